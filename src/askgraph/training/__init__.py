"""Fine-tuning of language models that write queries.

What lives here: training pairs and the training itself. May import: `evaluation` and the rooms
below it. Start reading at `pairs.py`.
"""
