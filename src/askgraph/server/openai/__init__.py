"""An OpenAI-compatible server: methods as models, `/v1/models` and `/v1/chat/completions`.

The last message of a conversation is the question (`conversation`), the model names the method and
the graph (`routes`), the answer is written as Markdown (`answers`), and errors have the shape that
clients of that protocol read (`views`).
"""
