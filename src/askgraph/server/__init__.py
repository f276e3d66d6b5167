"""`askgraph serve`: one process for people in a browser, for programs and for agents.

All of them read the same stream of steps. `app.create_app` puts everything together; a question
goes through `runs`, on graphs that `graphs` keeps open, and is kept in the `store`.
"""
