"""RDF values without input or output: prefixes, vocabulary, labels."""
