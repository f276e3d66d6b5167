"""Run the command line with `python -m askgraph`."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # stopped while modules load: no traceback

from askgraph.cli import main

if __name__ == "__main__":
    main()
