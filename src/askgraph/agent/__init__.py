"""Parts of methods in which a language model explores a graph: conversations and their ends.

`Conversation` talks with a model within bounds, `opening` shows it what the graph knows of the
question, `Attempts` keeps the best answer so far for the case that the run has to end.
"""
