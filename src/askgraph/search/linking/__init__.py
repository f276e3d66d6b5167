"""The words of a question, read and linked to entities, classes, predicates and values."""
