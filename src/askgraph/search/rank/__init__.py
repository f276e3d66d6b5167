"""The order of candidates: their features, weights, faults and clusters."""
