"""`askgraph define`: define the words of the users for a graph, its measures and conditions."""

import tomllib
from pathlib import Path
from typing import Any

import typer

from askgraph.answers.console import build_table, format_count
from askgraph.atomic_files import write_text_atomically
from askgraph.cli.output import CommonOptions, print_blocks, print_json
from askgraph.cli.query import read_query_argument
from askgraph.errors import SetupError
from askgraph.graph.glossary import (
    Glossary,
    GlossaryEntry,
    format_glossary,
    format_turtle_glossary,
    parse_entry,
    parse_glossary,
    parse_turtle_glossary,
)
from askgraph.graph.profile import Profile
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rdf_files import FORMAT_BY_SUFFIX
from askgraph.workspace.glossary import find_conflicts


def define(
    common: CommonOptions,
    name: str,
    word: str | None = None,
    means: list[str] | None = None,
    same_as: str | None = None,
    query: str | None = None,
    set_: list[str] | None = None,
    instructions: str | None = None,
    glossary: Path | None = None,
    export: Path | None = None,
    remove: bool = False,
    json: bool = False,
) -> None:
    r"""Define a word for a graph: a meaning, a measure, a condition, a default filter, a rule.

    \b
      askgraph define fleet vehicles car lorry
      askgraph define fleet kickoff "launch date"
      askgraph define fleet boats --same-as ship
      askgraph define fleet "active fleet" --query @active.rq
        askgraph define fleet "own cost" o:cost --set hidden=true
      askgraph define fleet --instructions "Distances are in kilometres."

    Without a word, the glossary is listed. Meanings are names, prefixed names or IRIs.
    Files are TOML or Turtle, by their extension.
    """
    workspace = common.workspace
    has_meaning = bool(means or same_as or query or set_)
    if word is None and (has_meaning or remove):
        raise SetupError("name the word first: askgraph define GRAPH WORD …")
    if has_meaning and remove:
        raise SetupError("--remove deletes a word: give no meaning with it")
    entries: tuple[GlossaryEntry, ...] = ()
    new_instructions = instructions
    if glossary is not None:
        try:
            text = glossary.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f"the glossary {glossary} cannot be read: {error}") from error
        rdf_format = FORMAT_BY_SUFFIX.get(glossary.suffix.lower())
        if rdf_format is None:
            file_glossary = parse_glossary(text, str(glossary))
        else:
            file_glossary = parse_turtle_glossary(text, str(glossary), format=rdf_format)
        entries = file_glossary.entries
        new_instructions = file_glossary.instructions or new_instructions
    if word is not None and not remove:
        table = {
            "word": word,
            "means": means or [],
            "same_as": same_as,
            "query": read_query_argument(query) if query else "",
            **_parse_settings(set_ or []),
        }
        entries = (*entries, parse_entry(table, f"askgraph define {name}"))
    if entries or new_instructions is not None or remove:
        updated = workspace.define(
            name, *entries, instructions=new_instructions, without=str(word) if remove else ""
        )
        typer.echo(f"{name}: {format_count(len(updated.entries), 'word')} defined", err=True)
        prefixes = PrefixMap(dict(workspace.load_profile(name).prefixes))
        for conflict in find_conflicts(updated, prefixes):
            typer.echo(f"warning: {conflict}", err=True)
    if export is not None:
        _export(workspace.load_glossary(name), export, workspace.load_profile(name))
    elif json or not (entries or new_instructions is not None or remove):
        _print_glossary(workspace.load_glossary(name), workspace.load_profile(name), json=json)


def _parse_settings(settings: list[str]) -> dict[str, Any]:
    """Return the keys of an entry from texts such as `of=ship`, with TOML or text values."""
    table: dict[str, Any] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise SetupError(f"--set {setting!r}: write KEY=VALUE, such as of=ship")
        try:
            table[key] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            table[key] = text
    return table


def _export(glossary: Glossary, path: Path, profile: Profile) -> None:
    match path.suffix.lower():
        case ".toml":
            text = format_glossary(glossary)
        case ".ttl" | ".turtle":
            text = format_turtle_glossary(glossary, PrefixMap(dict(profile.prefixes)))
        case _:
            raise SetupError(f"{str(path)!r}: name a file that ends in .toml or .ttl")
    try:
        write_text_atomically(path, text)
    except OSError as error:
        raise SetupError(f"{str(path)!r} cannot be written: {error.strerror}") from error
    typer.echo(f"{path}: {format_count(len(glossary.entries), 'word')}", err=True)


def _print_glossary(glossary: Glossary, profile: Profile, *, json: bool) -> None:
    if json:
        print_json(glossary.to_table())
        return
    if not glossary:
        typer.echo("no words yet; define one with askgraph define GRAPH WORD MEANING", err=True)
        return
    prefixes = PrefixMap(dict(profile.prefixes))
    rows = [
        (entry.word, entry.definition.kind, _format_meaning(entry, prefixes))
        for entry in glossary.entries
    ]
    if any(kind for _, kind, _ in rows):
        print_blocks([build_table(("word", "kind", "meaning"), rows)])
    elif rows:
        print_blocks([build_table(("word", "meaning"), [(word, text) for word, _, text in rows])])
    if glossary.instructions:
        typer.echo(f"Note for models: {glossary.instructions}")


def _format_meaning(entry: GlossaryEntry, prefixes: PrefixMap) -> str:
    if entry.same_as:
        return f"the same as {entry.same_as!r}"
    meaning = " or ".join(map(prefixes.shorten, entry.means)) or " ".join(entry.query.split())
    rule = entry.definition
    if rule.of:
        parts = (rule.value or rule.pattern, rule.order, rule.limit and f"limit {rule.limit}")
        text = " ".join(" ".join(map(str, filter(None, parts))).split())
        meaning = f"of {prefixes.shorten(rule.of)}: {rule.description or text}"
    elif rule.description:
        meaning = f"{meaning}: {rule.description}"
    return meaning
