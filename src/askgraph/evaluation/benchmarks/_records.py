"""Records of a benchmark's file, and the questions that they make: texts, ids, unreadable items."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from pyoxigraph import BlankNode, Literal, NamedNode

from askgraph.errors import SetupError
from askgraph.evaluation import Table
from askgraph.evaluation.benchmarks import Contents, Unreadable
from askgraph.evaluation.questions import GoldQuestion
from askgraph.graph.archives import plain_name, text_of
from askgraph.sparql.comparison import cell_of_json, cell_of_term
from askgraph.sparql.prefixes import TABLES
from askgraph.sparql.results import SelectResult, Term

Item = tuple[str, GoldQuestion | str]
"""Where an item stands; the question, or the reason why there is none."""

Given = TypeVar("Given")

_PROLOGUE = r"(?:\s|\#[^\n]*(?:\n|$)|PREFIX\s[^<>]*<[^<>]*>|BASE\s*<[^<>]*>|DEFINE\s[^\n]*\n)*"
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile(r"\\u([0-9A-Fa-f]{4})")
_FORM = re.compile(_PROLOGUE + r"(CONSTRUCT|DESCRIBE)\b", re.IGNORECASE)


class Unfit(Exception):
    """The item is no question we could ask or score; the text says why."""


@dataclass(frozen=True)
class Text:
    """One wording of a question; the language is None if the file does not say."""

    string: str
    language: str | None = None


def each(
    records: Iterable[tuple[str, Given | str]], read: Callable[[str, Given], Iterable[Item]]
) -> Iterator[Item]:
    """Read every record; one that is `Unfit`, or a reason already, becomes its reason."""
    for place, record in records:
        if isinstance(record, str):
            yield place, record
            continue
        try:
            found = list(read(place, record))
        except Unfit as unfit:
            found = [(place, str(unfit))]
        yield from found


def wordings(
    place: str, question: GoldQuestion, texts: Sequence[Text], language: str | None
) -> Iterator[Item]:
    """Yield the question once for each wording that is asked for.

    If that are several, their ids end in `@` and the language and, for several in one language,
    in `#` and a number.
    """
    there = [text for text in texts if text.string.strip()]
    if not there:
        raise Unfit("it has no text")
    if language == "*":
        chosen = list(there)
    elif language is None:
        english = [text for text in there if _speaks(text, "en")]
        chosen = english or [text for text in there if text.language == there[0].language]
    else:
        found = [text for text in there if _speaks(text, language)]
        # A text without a language may be in any.
        chosen = found or [text for text in there if text.language is None]
    if not chosen:
        known = ", ".join(dict.fromkeys(text.language or "none" for text in there))
        raise Unfit(f"no text in {language!r}; it has {known}")
    for suffix, text in zip(_suffixes(chosen), chosen, strict=True):
        asked = replace(question, id=question.id + suffix, text=text.string, language=text.language)
        yield place, asked


def gathered(
    items: Iterable[Item], *, graph: str | None = None, prefixes: Mapping[str, str] | None = None
) -> Contents:
    """Sort items into questions and what is listed; a repeated id gets `~2`, `~3`, …"""
    questions: list[GoldQuestion] = []
    unreadable: list[Unreadable] = []
    times: dict[str, int] = {}
    for place, found in items:
        reason = found if isinstance(found, str) else _what_is_missing(found)
        if reason is not None:
            unreadable.append(Unreadable(place, reason))
        elif isinstance(found, GoldQuestion):
            identity = found.id
            own, number = identity, 1
            while own in times:
                number = times[identity] = times.get(identity, 1) + 1
                own = f"{identity}~{number}"
            times[own] = 1
            questions.append(replace(found, id=own))
    return Contents(tuple(questions), tuple(unreadable), graph, prefixes or {})


def split_in(path: Path, splits: Iterable[str]) -> str | None:
    """Return the split that a file's name has as a word, or that its folder is named for."""
    words = set(re.findall(r"[a-z]+", plain_name(path)))
    folder = path.parent.name.lower()
    return next((split for split in splits if split in words or split == folder), None)


def _speaks(text: Text, language: str) -> bool:
    tag, wanted = (text.language or "").lower(), language.lower()
    return tag == wanted or tag.startswith(f"{wanted}-")


def _suffixes(texts: Sequence[Text]) -> list[str]:
    if len(texts) == 1:
        return [""]
    languages = [text.language for text in texts]
    if len(set(languages)) == 1:
        return [f"#{number}" for number in range(1, len(texts) + 1)]
    suffixes = []
    for at, language in enumerate(languages):
        number = f"#{languages[: at + 1].count(language)}" if languages.count(language) > 1 else ""
        suffixes.append(f"@{language or 'none'}{number}")
    return suffixes


def _what_is_missing(question: GoldQuestion) -> str | None:
    if not question.text.strip():
        return "it has no text"
    if _SURROGATE.search(question.text):
        return "its text holds half a surrogate pair, which is no character"
    if not question.has_gold:
        return "it has neither a query nor answers"
    if question.sparql is not None and (form := _FORM.match(question.sparql)):
        return f"a {form[1].upper()} query gives triples, which cannot be scored as rows"
    return None


Record = Mapping[str, object]

_KEY = re.compile(r'"([^"\\\n]{1,40})"\s*:')


def keys_in(head: str) -> frozenset[str]:
    """Return the keys, at any depth, of the beginning of a JSON text."""
    return frozenset(_KEY.findall(head))


def loaded(path: Path) -> object:
    """Return the content of a JSON file; `SetupError` with the line if it is not JSON."""
    try:
        content: object = json.loads(text_of(path))
    except json.JSONDecodeError as error:
        raise SetupError(f"{path}, line {error.lineno}: not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise SetupError(f"{path}: not JSON that can be read: {error}") from error
    return content


def listed(path: Path, *, key: str | None = None) -> Iterator[tuple[str, Record | str]]:
    """Yield the objects of a JSON list, or of the list under a key, each with its place."""
    content = loaded(path)
    if key is not None:
        if not isinstance(content, dict) or key not in content:
            raise SetupError(f"{path}: expected an object with {key!r}")
        content = content[key]
    if not isinstance(content, list):
        raise SetupError(f"{path}: expected a list of objects{f' in {key!r}' if key else ''}")
    yield from numbered(path, content)


def numbered(path: Path, records: list[object]) -> Iterator[tuple[str, Record | str]]:
    """Yield records with their place; one that is no object becomes a reason."""
    for number, record in enumerate(records, start=1):
        found = record if isinstance(record, dict) else "it is no object"
        yield f"{path}, item {number}", found


def lines(path: Path) -> Iterator[tuple[str, Record | str]]:
    """Yield the objects of a file with one JSON object a line, each with its place."""
    for number, line in enumerate(text_of(path).split("\n"), start=1):
        if line.strip():
            yield f"{path}, line {number}", _object(line)


def identity(record: Record, key: str, place: str) -> str:
    """Return an id as text; if the record has none, its number in the file."""
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise Unfit(f"{key!r} must be text or a whole number")
    return place.rpartition(" ")[2] if value in (None, "") else str(value)


def text_in(record: Record, key: str) -> str | None:
    """Return a text, None if it is absent, null or blank; `Unfit` for anything else."""
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise Unfit(f"{key!r} must be text")
    return value.strip() or None if value else None


def texts_in(record: Record, key: str) -> tuple[str, ...]:
    """Return what is not blank of a text, an object with `string`, or a list of either."""
    value = record.get(key)
    values = [
        part.get("string") if isinstance(part, dict) else part
        for part in (value if isinstance(value, list) else [value])
    ]
    if not all(isinstance(text, str | None) for text in values):
        raise Unfit(f"{key!r} must be a text or a list of texts")
    # DBLP-QuAD's files hold `\\u00ED` where `\u00ED` was meant.
    texts = (
        _ESCAPED.sub(lambda code: chr(int(code[1], 16)), text).strip()
        for text in values
        if isinstance(text, str)
    )
    return tuple(filter(None, texts))


def objects_in(record: Record, key: str) -> list[Record]:
    """Return a list of objects, empty if it is absent or null; `Unfit` for anything else."""
    value = record.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise Unfit(f"{key!r} must be a list of objects")
    return value


def query_in(record: Record, key: str = "query") -> str | None:
    """Return the text under `sparql` of the object under a key, or the text under the key."""
    value = record.get(key)
    return text_in(value, "sparql") if isinstance(value, dict) else text_in(record, key)


def _object(line: str) -> Record | str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    return record if isinstance(record, dict) else "expected an object"


def stored_table(value: object) -> Table | None:
    """Return answers as our own lines store them, or one result; None for none."""
    match value:
        case None:
            return None
        case {"vars": list(names), "rows": list(rows)} if all(
            isinstance(row, list) and len(row) == len(names) for row in rows
        ):
            return Table.of_json([str(name) for name in names], rows)
        case {"vars": _} | {"rows": _}:
            raise Unfit(
                "'answers' must be {'vars': […], 'rows': [[…], …]}, each row as long as vars, or "
                "{'boolean': true}"
            )
        case _:
            return table_of_result(value)


def table_of_result(result: object) -> Table:
    """Return one result, solutions or a boolean; `Unfit` if it is neither."""
    match result:
        case {"boolean": bool(truth)}:
            return Table.of_boolean(truth)
        case {"boolean": "true" | "True" | "false" | "False" as word}:
            return Table.of_boolean(word.lower() == "true")
        case {"results": {"bindings": list(bindings)}, **rest}:
            return table_of_bindings(bindings, _variables(rest.get("head")))
        case {"results": {}, **rest}:
            return table_of_bindings([], _variables(rest.get("head")))
        case _:
            raise Unfit("its stored answers are neither solutions nor a boolean")


def table_of_bindings(bindings: Sequence[object], variables: Sequence[str] = ()) -> Table:
    """Return solutions, each an object from variable to term; unbound variables may be absent.

    The raw terms are kept if all of them are valid RDF, and else the plain values alone.
    """
    names = dict.fromkeys(variables)
    for solution in bindings:
        if not isinstance(solution, dict):
            raise Unfit("a solution among its stored answers is no object")
        names.update(dict.fromkeys(map(str, solution)))
    rows = [[_valued(solution.get(name)) for name in names] for solution in _objects(bindings)]
    if all(isinstance(value, Term | None) for row in rows for value in row):
        terms = tuple(tuple(v if isinstance(v, Term) else None for v in row) for row in rows)
        return Table.of_result(SelectResult(tuple(names), terms))
    cells = [[cell_of_json(v) if isinstance(v, str) else cell_of_term(v) for v in r] for r in rows]
    return Table(tuple(names), tuple(map(tuple, cells)))


def _variables(head: object) -> list[str]:
    match head:
        case {"vars": list(variables)}:
            return [str(variable) for variable in variables]
        case _:
            return []


def _objects(bindings: Sequence[object]) -> list[dict[str, object]]:
    return [solution for solution in bindings if isinstance(solution, dict)]


def _valued(value: object) -> Term | str | None:
    """Return a term, its plain text if it is no valid RDF, or None for unbound."""
    if value is None:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("value"), str | int | float):
        raise Unfit("a value among its stored answers has no 'value'")
    text = value["value"]
    plain = str(text).lower() if isinstance(text, bool) else str(text)
    try:
        language, datatype = value.get("xml:lang") or value.get("lang"), value.get("datatype")
        match value.get("type"):
            case "uri" | "iri":
                return NamedNode(plain)
            case "bnode":
                return BlankNode(plain)
            case _ if isinstance(language, str):
                return Literal(plain, language=language)
            case _ if isinstance(datatype, str):
                return Literal(plain, datatype=NamedNode(datatype))
            case _:
                return Literal(plain)
    except ValueError:
        return plain


_STANDARD = TABLES["standard"]

WIKIDATA = {**_STANDARD, **TABLES["wikidata"]}
"""What the public query service of Wikidata declares for every query."""

DBPEDIA = {**_STANDARD, **TABLES["dbpedia"]}
"""What the public endpoint of DBpedia knows without declaration, and QALD's own short names."""

FREEBASE = {**_STANDARD, **TABLES["freebase"]}
"""The last dump of Freebase."""

PREFIXES: Mapping[str, Mapping[str, str]] = {
    "wikidata": WIKIDATA,
    "dbpedia": DBPEDIA,
    "orkg": {**_STANDARD, **TABLES["orkg"]},
    "dblp": TABLES["dblp"],
    "freebase": FREEBASE,
}
"""What queries over a graph, by its name, may use without declaring it."""

_SIGNS = {
    "wikidata": re.compile(r"www\.wikidata\.org/|\b(?:wdt?|ps?|pq):[QP][0-9]"),
    "dbpedia": re.compile(r"dbpedia\.org/|\b(?:dbo|dbr|dbp|dbc|res):"),
}


def graph_of(queries: Iterable[str]) -> str | None:
    """Return `wikidata` or `dbpedia`, whichever more queries name; None if none names either."""
    named = Counter(
        graph for query in queries for graph, sign in _SIGNS.items() if sign.search(query)
    )
    return max(named, key=named.__getitem__) if named else None


def wikidata_iri(name: str) -> str:
    """Return the IRI of `Q42` or, for the statements of `P31`, `wdt:P31` or `R31`, the property."""
    prefix, _, local = name.rpartition(":")
    if prefix in WIKIDATA and local:
        return WIKIDATA[prefix] + local
    if re.fullmatch(r"[PR][0-9]+", name):
        return f"{WIKIDATA['wdt']}P{name[1:]}"
    if re.fullmatch(r"Q[0-9]+", name):
        return WIKIDATA["wd"] + name
    return name
