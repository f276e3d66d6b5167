"""Question text to the entities, classes, predicates and values that its words name."""
