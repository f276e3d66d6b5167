"""The campaigns on workspaces and wires, in short: kills, full disks, others, odd files, bytes."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def tried(part: str, *options: str) -> str:
    command = [sys.executable, "-m", f"tools.campaign.{part}", *options]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)

    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout.splitlines()[-1]


def test_a_command_that_is_killed_leaves_all_whole() -> None:
    options = ["--only", "index", "batch", "--changes", "2", "--moments", "0", "--stops", "1"]

    assert tried("kills", *options) == "tried 6, survived 6"


def test_a_full_disk_is_said_to_be_full_and_nothing_is_lost() -> None:
    assert tried("disk_full", "--only", "batch", "--room", "0") == "tried 1, survived 1"


def test_graphs_that_are_added_at_once_are_all_whole() -> None:
    only = ["--only", "graphs of one name added at once", "--rounds", "1"]

    assert tried("two_processes", *only) == "tried 1, survived 1"


def test_requests_bodies_and_frames_that_no_client_sends_are_answered() -> None:
    assert tried("wires").startswith("tried 154, survived 154")


def test_files_by_odd_names_are_read_and_nothing_else_is_kept() -> None:
    assert tried("uploads", "--only", "names") == "tried 10, survived 10"
