"""The server behind `askgraph serve`: one process for browsers, programs and agents.

`app.create_app` assembles it. A question goes through `runs`, on graphs that `graphs` keeps open,
and is stored by `store`; all protocols read the same stream of steps.

Contents: one module or package per protocol (`rest`, `mcp`, `openai`, `sparql`), `auth`,
`protection`, `telemetry`, `runs`, `graphs`, `store`, and the page in `web`.
May import: `workspace` and the rooms below it; may use the network. Start reading at `app.py`.
"""
