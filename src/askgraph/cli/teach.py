"""`askgraph teach`: define what words of the users mean in a graph."""

from pathlib import Path

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


def teach(
    common: CommonOptions,
    name: str,
    word: str | None = None,
    means: list[str] | None = None,
    same_as: str | None = None,
    query: str | None = None,
    instructions: str | None = None,
    glossary: Path | None = None,
    export: Path | None = None,
    remove: bool = False,
    json: bool = False,
) -> None:
    r"""Teach a word to a graph: it means classes, a property, a thing, another word, or a query.

    \b
      askgraph teach fleet vehicles car lorry
      askgraph teach fleet kickoff "launch date"
      askgraph teach fleet boats --same-as ship
      askgraph teach fleet "active fleet" --query @active.rq
      askgraph teach fleet --instructions "Distances are in kilometres."

    Without a word, the glossary is listed. Meanings are names, prefixed names or IRIs.
    Files are TOML or Turtle, by their extension.
    """
    workspace = common.workspace
    has_meaning = bool(means or same_as or query)
    if word is None and (has_meaning or remove):
        raise SetupError("name the word first: askgraph teach GRAPH WORD …")
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
        }
        entries = (*entries, parse_entry(table, f"askgraph teach {name}"))
    if entries or new_instructions is not None or remove:
        updated_glossary = workspace.teach(
            name, *entries, instructions=new_instructions, without=str(word) if remove else ""
        )
        typer.echo(
            f"{name}: {format_count(len(updated_glossary.entries), 'word')} taught", err=True
        )
    if export is not None:
        _export(workspace.load_glossary(name), export, workspace.load_profile(name))
    elif json or not (entries or new_instructions is not None or remove):
        _print_glossary(workspace.load_glossary(name), workspace.load_profile(name), json=json)


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
        typer.echo("no words yet; teach one with askgraph teach GRAPH WORD MEANING", err=True)
        return
    prefixes = PrefixMap(dict(profile.prefixes))
    rows = [(entry.word, _format_meaning(entry, prefixes)) for entry in glossary.entries]
    if rows:
        print_blocks([build_table(("word", "meaning"), rows)])
    if glossary.instructions:
        typer.echo(f"Note for models: {glossary.instructions}")


def _format_meaning(entry: GlossaryEntry, prefixes: PrefixMap) -> str:
    if entry.same_as:
        return f"the same as {entry.same_as!r}"
    return " or ".join(map(prefixes.shorten, entry.means)) or " ".join(entry.query.split())
