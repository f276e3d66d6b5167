"""`python -m askgraph` is the command `askgraph`."""

from askgraph.cli import main

if __name__ == "__main__":
    main()
