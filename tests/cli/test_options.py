"""Options that several commands share are declared once."""

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import fields
from typing import Any

import typer

from askgraph import cli

DESCRIPTIONS = {**cli.load_descriptions()}
for heading in ("commands", "details", "groups"):
    del DESCRIPTIONS[heading]


def commands() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every command by its name, with the options of its bundles in place of these."""
    for name in cli.COMMANDS:
        yield name, cli.expand_command(cli.load_command(name), name)
    for group in cli.GROUPS:
        found: typer.Typer = cli.load_command(group)
        for command in found.registered_commands:
            assert command.callback is not None
            yield f"{group} {command.name}", command.callback


def bundles(base: type[cli.OptionBundle]) -> Iterator[type[cli.OptionBundle]]:
    """Every bundle below one."""
    for bundle in base.__subclasses__():
        yield from (bundle, *bundles(bundle))


def test_no_option_is_described_twice_with_the_same_words() -> None:
    described: dict[tuple[str, str], list[str]] = defaultdict(list)
    for table, options in DESCRIPTIONS.items():
        for name, about in options.items():
            if isinstance(about, dict):
                described[name, about["help"]].append(table)
    assert not {about: tables for about, tables in described.items() if len(tables) > 1}


def test_descriptions_and_bundles() -> None:
    # Every description is of an option.
    there = {name: set(inspect.signature(one).parameters) for name, one in commands()}
    there |= {
        one.__name__: {field.name for field in fields(one)} for one in bundles(cli.OptionBundle)
    }
    abouts = [about for options in DESCRIPTIONS.values() for about in options.values()]
    named = {about for about in abouts if isinstance(about, str)}
    assert all(set(DESCRIPTIONS[name]) <= there[name] for name in set(DESCRIPTIONS) - {"shared"})
    assert named <= set(DESCRIPTIONS["shared"]) <= named.union(*there.values())
    # A bundle that comes last stands behind the options of its command.
    options = dict(commands())["evaluate"]
    names = list(inspect.signature(options).parameters)
    assert names[-3:] == ["json", "folder", "debug"]
    assert names.index("metric") < names.index("markdown")
