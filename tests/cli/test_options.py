"""Options that several commands share are declared once."""

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import typer
from typer.models import ParameterInfo

from askgraph.cli import COMMANDS, GROUPS
from askgraph.cli.context import expanded


def commands() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every command by its name, with the options of its bundles in place of these."""
    for name in COMMANDS:
        yield name, expanded(getattr(import_module(f"askgraph.cli.{name}"), name))
    for group in GROUPS:
        found: typer.Typer = getattr(import_module(f"askgraph.cli.{group}"), group)
        for command in found.registered_commands:
            assert command.callback is not None
            yield f"{group} {command.name}", command.callback


def test_no_option_is_declared_twice_with_the_same_words() -> None:
    declared: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for command, function in commands():
        for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
            for info in getattr(parameter.annotation, "__metadata__", ()):
                if isinstance(info, ParameterInfo):
                    declared[name, info.help or ""].setdefault(id(info), command)

    twice = {about: list(where.values()) for about, where in declared.items() if len(where) > 1}
    assert not twice


def test_a_bundle_that_comes_last_stands_behind_the_options_of_its_command() -> None:
    options = dict(commands())["evaluate"]
    names = list(inspect.signature(options).parameters)

    assert names[-3:] == ["json", "folder", "debug"]
    assert names.index("metric") < names.index("markdown")
