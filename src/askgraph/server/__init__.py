"""`askgraph serve`: one process for people in a browser, for programs and for agents.

All of them read the same stream of steps. `app.create_app` puts everything together; a question
goes through `runs`, on graphs that `graphs` keeps open, and is stored in the `store`.

What lives here: one module or package for each protocol (`rest`, `mcp`, `openai`, `sparql`),
`auth`, `protection`, `telemetry`, `runs`, `graphs`, `store`, and the page in `web`.
May import: `workspace` and the rooms below it; may use the network. Start reading at `app.py`.
"""
