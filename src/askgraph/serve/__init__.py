"""Where people, programs and agents meet askgraph: one server, one stream of steps for all."""
