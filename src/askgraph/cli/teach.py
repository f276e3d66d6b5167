"""`askgraph teach`: what the words of its users mean in a graph."""

from pathlib import Path

import typer

from askgraph.answers.console import counted, listing
from askgraph.atomic_files import write_text_atomically
from askgraph.cli.options import Common
from askgraph.cli.output import print_json, show
from askgraph.cli.query import text_of_argument
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
from askgraph.sparql.rdf_files import FORMATS


def teach(
    common: Common,
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
    """Say what a word means in a graph: classes, a property, a thing, another word, or a query.

    \b
      askgraph teach fleet vehicles car lorry
      askgraph teach fleet kickoff "launch date"
      askgraph teach fleet boats --same-as ship
      askgraph teach fleet "active fleet" --query @active.rq
      askgraph teach fleet --instructions "Distances are in kilometres."

    Without a word, the glossary is listed. Names, prefixed names and IRIs may say what is meant.
    Files are TOML or Turtle, by their ending.
    """
    place = common.workspace
    has_meaning = bool(means or same_as or query)
    if word is None and (has_meaning or remove):
        raise SetupError("name the word first: askgraph teach GRAPH WORD …")
    if has_meaning and remove:
        raise SetupError("--remove takes a word away: give it no meaning")
    entries: tuple[GlossaryEntry, ...] = ()
    said = instructions
    if glossary is not None:
        try:
            text = glossary.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f"the glossary {glossary} cannot be read: {error}") from error
        form = FORMATS.get(glossary.suffix.lower())
        if form is None:
            read = parse_glossary(text, str(glossary))
        else:
            read = parse_turtle_glossary(text, str(glossary), format=form)
        entries, said = read.entries, read.instructions or said
    if word is not None and not remove:
        table = {
            "word": word,
            "means": means or [],
            "same_as": same_as,
            "query": text_of_argument(query) if query else "",
        }
        entries = (*entries, parse_entry(table, f"askgraph teach {name}"))
    if entries or said is not None or remove:
        known = place.teach(name, *entries, instructions=said, without=str(word) if remove else "")
        typer.echo(f"{name}: {counted(len(known.entries), 'word')} taught", err=True)
    if export is not None:
        _export(place.glossary(name), export, place.profile(name))
    elif json or not (entries or said is not None or remove):
        _print(place.glossary(name), place.profile(name), json=json)


def _export(known: Glossary, path: Path, profile: Profile) -> None:
    match path.suffix.lower():
        case ".toml":
            text = format_glossary(known)
        case ".ttl" | ".turtle":
            text = format_turtle_glossary(known, PrefixMap(dict(profile.prefixes)))
        case _:
            raise SetupError(f"{str(path)!r}: name the file with .toml or .ttl at its end")
    try:
        write_text_atomically(path, text)
    except OSError as error:
        raise SetupError(f"{str(path)!r} cannot be written: {error.strerror}") from error
    typer.echo(f"{path}: {counted(len(known.entries), 'word')}", err=True)


def _print(known: Glossary, profile: Profile, *, json: bool) -> None:
    if json:
        print_json(known.to_table())
        return
    if not known:
        typer.echo("nothing was taught yet; askgraph teach GRAPH WORD MEANING does it", err=True)
        return
    prefixes = PrefixMap(dict(profile.prefixes))
    rows = [(one.word, _meaning(one, prefixes)) for one in known.entries]
    if rows:
        show([listing(("word", "means"), rows)])
    if known.instructions:
        typer.echo(f"Models are told: {known.instructions}")


def _meaning(entry: GlossaryEntry, prefixes: PrefixMap) -> str:
    if entry.same_as:
        return f"the same as {entry.same_as!r}"
    return " or ".join(map(prefixes.shorten, entry.means)) or " ".join(entry.query.split())
