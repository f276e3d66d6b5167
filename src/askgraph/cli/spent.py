"""What a long command has cost: time on the clock, time of a core, memory at most."""

import sys
import time
from dataclasses import dataclass, field

__all__ = ["Spent"]

_MIB = 1024 * 1024


@dataclass(frozen=True)
class Spent:
    """A stopwatch that runs from when it is made; memory is that of this process alone."""

    clock: float = field(default_factory=time.perf_counter)
    core: float = field(default_factory=time.process_time)

    def told(self) -> str:
        """Return it in words, as in "12:04 min, 19:30 min of a core, 760 MiB at most"."""
        clock = _minutes(time.perf_counter() - self.clock)
        core = _minutes(time.process_time() - self.core)
        peak = _peak()
        return f"{clock} min, {core} min of a core" + (f", {peak} MiB at most" if peak else "")


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def _peak() -> int | None:
    """The most memory this process has held, in MiB; None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // _MIB if sys.platform == "darwin" else most // 1024
