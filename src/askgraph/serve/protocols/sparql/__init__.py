"""Each graph as a SPARQL 1.1 endpoint, for the tools that speak the protocol."""
