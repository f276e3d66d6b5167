"""Graphs for agents: a Model Context Protocol server, over standard input and output or HTTP.

`server` puts it together from tools (`ask`, `explore`, `query`), resources and prompts. All of them
reach graphs through an `Access`: that of one caller of `askgraph serve` (`http`), or that of the
person who started `askgraph mcp` (`stdio`).
"""
