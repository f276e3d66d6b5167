"""Metrics: pure functions of a predicted and a gold table, see `Metric`.

The docstring of each says what it punishes and what not.
"""

PLUGINS = {
    "accuracy_at_1": "sets:accuracy_at_1",
    "best_column": "sets:best_column",
    "best_column_multiset": "sets:best_column_multiset",
    "column_mapping": "assignment:column_mapping",
    "dfsl": "sets:dfsl",
    "exact_match": "sets:exact_match",
    "flattened": "sets:flattened",
    "hits_at_1": "sets:hits_at_1",
    "row_assignment": "assignment:row_assignment",
    "text2sparql": "sets:text2sparql",
}
