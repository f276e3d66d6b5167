"""Conversion of benchmark records to questions: texts, ids, stored answers, unreadable items."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from pyoxigraph import BlankNode, Literal, NamedNode

from askgraph.errors import SetupError
from askgraph.evaluation import ResultTable
from askgraph.evaluation.benchmarks import BenchmarkContents, UnreadableItem
from askgraph.evaluation.questions import GoldQuestion
from askgraph.graph.archives import get_plain_name, read_text
from askgraph.sparql.comparison import parse_json_value, to_comparable_value
from askgraph.sparql.prefixes import PREFIX_TABLES
from askgraph.sparql.results import SelectResult, Term

Item = tuple[str, GoldQuestion | str]
"""The location of an item, and its question or the reason why it has none."""

RawRecord = TypeVar("RawRecord")

UNANSWERABLE_TAG = "unanswerable"
"""The tag of questions that the graph holds no answer for."""

_PROLOGUE = r"(?:\s|\#[^\n]*(?:\n|$)|PREFIX\s[^<>]*<[^<>]*>|BASE\s*<[^<>]*>|DEFINE\s[^\n]*\n)*"
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNICODE_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")
_FORM = re.compile(_PROLOGUE + r"(CONSTRUCT|DESCRIBE)\b", re.IGNORECASE)


class UnusableItemError(Exception):
    """The item cannot be asked or scored; the message states why."""


@dataclass(frozen=True)
class QuestionText:
    """One wording of a question; the language is None if unknown."""

    text: str
    language: str | None = None


def read_records(
    records: Iterable[tuple[str, RawRecord | str]],
    read_record: Callable[[str, RawRecord], Iterable[Item]],
) -> Iterator[Item]:
    """Read every record; an unusable record yields its reason instead of a question."""
    for location, record in records:
        if isinstance(record, str):
            yield location, record
            continue
        try:
            items = list(read_record(location, record))
        except UnusableItemError as error:
            items = [(location, str(error))]
        yield from items


def expand_wordings(
    location: str, question: GoldQuestion, texts: Sequence[QuestionText], language: str | None
) -> Iterator[Item]:
    """Yield the question once per requested wording.

    The ids of several wordings end in `@` and the language and, for several wordings in one
    language, in `#` and a number.
    """
    available = [text for text in texts if text.text.strip()]
    if not available:
        raise UnusableItemError("it has no text")
    if language == "*":
        chosen = list(available)
    elif language is None:
        english = [text for text in available if _has_language(text, "en")]
        chosen = english or [text for text in available if text.language == available[0].language]
    else:
        matching = [text for text in available if _has_language(text, language)]
        # A text without a language tag may be in any language.
        chosen = matching or [text for text in available if text.language is None]
    if not chosen:
        languages = ", ".join(dict.fromkeys(text.language or "none" for text in available))
        raise UnusableItemError(f"no text in {language!r}; it has {languages}")
    for suffix, text in zip(_build_id_suffixes(chosen), chosen, strict=True):
        identity = question.id + suffix
        yield location, replace(question, id=identity, text=text.text, language=text.language)


def collect_contents(
    items: Iterable[Item], *, graph: str | None = None, prefixes: Mapping[str, str] | None = None
) -> BenchmarkContents:
    """Sort items into questions and unreadable items; repeated ids get `~2`, `~3`, … appended."""
    questions: list[GoldQuestion] = []
    unreadable: list[UnreadableItem] = []
    id_counts: dict[str, int] = {}
    for location, item in items:
        reason = item if isinstance(item, str) else _find_defect(item)
        if reason is not None:
            unreadable.append(UnreadableItem(location, reason))
        elif isinstance(item, GoldQuestion):
            identity = item.id
            unique_id, number = identity, 1
            while unique_id in id_counts:
                number = id_counts[identity] = id_counts.get(identity, 1) + 1
                unique_id = f"{identity}~{number}"
            id_counts[unique_id] = 1
            questions.append(replace(item, id=unique_id))
    return BenchmarkContents(tuple(questions), tuple(unreadable), graph, prefixes or {})


def detect_split(path: Path, splits: Iterable[str]) -> str | None:
    """Return the split that occurs as a word in a file's name or equals its folder's name."""
    words = set(re.findall(r"[a-z]+", get_plain_name(path)))
    folder = path.parent.name.lower()
    return next((split for split in splits if split in words or split == folder), None)


def _has_language(text: QuestionText, language: str) -> bool:
    tag, requested = (text.language or "").lower(), language.lower()
    return tag == requested or tag.startswith(f"{requested}-")


def _build_id_suffixes(texts: Sequence[QuestionText]) -> list[str]:
    if len(texts) == 1:
        return [""]
    languages = [text.language for text in texts]
    if len(set(languages)) == 1:
        return [f"#{number}" for number in range(1, len(texts) + 1)]
    suffixes = []
    for index, language in enumerate(languages):
        number = (
            f"#{languages[: index + 1].count(language)}" if languages.count(language) > 1 else ""
        )
        suffixes.append(f"@{language or 'none'}{number}")
    return suffixes


def _find_defect(question: GoldQuestion) -> str | None:
    if not question.text.strip():
        return "it has no text"
    if _SURROGATE.search(question.text):
        return "its text contains half of a surrogate pair, which is not a character"
    if not question.has_gold:
        return "it has neither a query nor answers"
    if question.sparql is not None and (form := _FORM.match(question.sparql)):
        return f"a {form[1].upper()} query returns triples, which cannot be scored as rows"
    return None


Record = Mapping[str, object]

_JSON_KEY = re.compile(r'"([^"\\\n]{1,40})"\s*:')


def find_keys(head: str) -> frozenset[str]:
    """Return the JSON keys, at any depth, in the beginning of a file."""
    return frozenset(_JSON_KEY.findall(head))


def load_json(path: Path) -> object:
    """Load a JSON file; raise `SetupError` with the line if it is not JSON."""
    try:
        content: object = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise SetupError(f"{path}, line {error.lineno}: not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise SetupError(f"{path}: cannot be read as JSON: {error}") from error
    return content


def iterate_json_list(path: Path, *, key: str | None = None) -> Iterator[tuple[str, Record | str]]:
    """Yield the objects of a JSON list, or of the list under a key, each with its location."""
    content = load_json(path)
    if key is not None:
        if not isinstance(content, dict) or key not in content:
            raise SetupError(f"{path}: expected an object with {key!r}")
        content = content[key]
    if not isinstance(content, list):
        raise SetupError(f"{path}: expected a list of objects{f' in {key!r}' if key else ''}")
    yield from number_records(path, content)


def number_records(path: Path, records: list[object]) -> Iterator[tuple[str, Record | str]]:
    """Yield records with their location; a record that is not an object yields a reason."""
    for number, record in enumerate(records, start=1):
        item = record if isinstance(record, dict) else "it is not an object"
        yield f"{path}, item {number}", item


def iterate_json_lines(path: Path) -> Iterator[tuple[str, Record | str]]:
    """Yield the objects of a JSON Lines file, each with its location."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            yield f"{path}, line {number}", _parse_line(line)


def get_id(record: Record, key: str, location: str) -> str:
    """Return the id of a record as text; without one, its number in the file."""
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise UnusableItemError(f"{key!r} must be text or a whole number")
    return location.rpartition(" ")[2] if value in (None, "") else str(value)


def get_text(record: Record, key: str) -> str | None:
    """Return a text, None if absent, null or blank; raise `UnusableItemError` for other values."""
    value = record.get(key)
    if value is not None and not isinstance(value, str):
        raise UnusableItemError(f"{key!r} must be text")
    return value.strip() or None if value else None


def get_texts(record: Record, key: str) -> tuple[str, ...]:
    """Return the non-blank texts of a text, an object with `string`, or a list of either."""
    value = record.get(key)
    values = [
        part.get("string") if isinstance(part, dict) else part
        for part in (value if isinstance(value, list) else [value])
    ]
    if not all(isinstance(text, str | None) for text in values):
        raise UnusableItemError(f"{key!r} must be a text or a list of texts")
    # DBLP-QuAD's files hold `\\u00ED` where `\u00ED` was meant.
    texts = (
        _UNICODE_ESCAPE.sub(lambda code: chr(int(code[1], 16)), text).strip()
        for text in values
        if isinstance(text, str)
    )
    return tuple(filter(None, texts))


def get_objects(record: Record, key: str) -> list[Record]:
    """Return a list of objects, empty if absent or null; raise `UnusableItemError` for others."""
    value = record.get(key) or []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise UnusableItemError(f"{key!r} must be a list of objects")
    return value


def get_query(record: Record, key: str = "query") -> str | None:
    """Return the text under a key, or under `sparql` of the object under that key."""
    value = record.get(key)
    return get_text(value, "sparql") if isinstance(value, dict) else get_text(record, key)


def _parse_line(line: str) -> Record | str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    return record if isinstance(record, dict) else "expected an object"


def parse_stored_answers(value: object) -> ResultTable | None:
    """Return stored answers, in our own format or as one SPARQL JSON result; None if absent."""
    match value:
        case None:
            return None
        case {"vars": list(names), "rows": list(rows)} if all(
            isinstance(row, list) and len(row) == len(names) for row in rows
        ):
            return ResultTable.from_json([str(name) for name in names], rows)
        case {"vars": _} | {"rows": _}:
            raise UnusableItemError(
                "'answers' must be {'vars': […], 'rows': [[…], …]}, each row as long as vars, or "
                "{'boolean': true}"
            )
        case _:
            return parse_json_result(value)


def to_stored_answers(values: object) -> object:
    """Return a TEXT2SPARQL result set, an object whose keys are its values, as stored answers."""
    match values:
        case {"true": int(value), **others} if not others:
            return {"boolean": bool(value)}
        case dict():
            return {"vars": ["value"], "rows": [[value] for value in values]}
        case _:
            return values


def parse_json_result(result: object) -> ResultTable:
    """Parse a SPARQL JSON result; raise `UnusableItemError` unless solutions or a boolean."""
    match result:
        case {"boolean": bool(value)}:
            return ResultTable.from_boolean(value)
        case {"boolean": "true" | "True" | "false" | "False" as word}:
            return ResultTable.from_boolean(word.lower() == "true")
        case {"results": {"bindings": list(bindings)}, **fields}:
            return parse_bindings(bindings, _get_variables(fields.get("head")))
        case {"results": {}, **fields}:
            return parse_bindings([], _get_variables(fields.get("head")))
        case _:
            raise UnusableItemError("its stored answers are neither solutions nor a boolean")


def parse_bindings(bindings: Sequence[object], variables: Sequence[str] = ()) -> ResultTable:
    """Parse solutions, objects from variable to term; unbound variables may be absent.

    The terms are kept if all of them are valid RDF, otherwise only plain values.
    """
    names = dict.fromkeys(variables)
    for solution in bindings:
        if not isinstance(solution, dict):
            raise UnusableItemError("a solution among its stored answers is not an object")
        names.update(dict.fromkeys(map(str, solution)))
    rows = [
        [_parse_term(solution.get(name)) for name in names]
        for solution in ([solution for solution in bindings if isinstance(solution, dict)])
    ]
    if all(isinstance(value, Term | None) for row in rows for value in row):
        terms = tuple(
            tuple(value if isinstance(value, Term) else None for value in row) for row in rows
        )
        return ResultTable.from_result(SelectResult(tuple(names), terms))
    cells = [
        [
            parse_json_value(value) if isinstance(value, str) else to_comparable_value(value)
            for value in row
        ]
        for row in rows
    ]
    return ResultTable(tuple(names), tuple(map(tuple, cells)))


def _get_variables(head: object) -> list[str]:
    match head:
        case {"vars": list(variables)}:
            return [str(variable) for variable in variables]
        case _:
            return []


def _parse_term(value: object) -> Term | str | None:
    """Return a term, its plain text if it is not valid RDF, or None for unbound."""
    if value is None:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("value"), str | int | float):
        raise UnusableItemError("a value among its stored answers has no 'value'")
    text = value["value"]
    lexical_form = str(text).lower() if isinstance(text, bool) else str(text)
    try:
        language, datatype = value.get("xml:lang") or value.get("lang"), value.get("datatype")
        match value.get("type"):
            case "uri" | "iri":
                return NamedNode(lexical_form)
            case "bnode":
                return BlankNode(lexical_form)
            case _ if isinstance(language, str):
                return Literal(lexical_form, language=language)
            case _ if isinstance(datatype, str):
                return Literal(lexical_form, datatype=NamedNode(datatype))
            case _:
                return Literal(lexical_form)
    except ValueError:
        return lexical_form


_STANDARD_PREFIXES = PREFIX_TABLES["standard"]

WIKIDATA_PREFIXES = {**_STANDARD_PREFIXES, **PREFIX_TABLES["wikidata"]}
"""Prefixes that Wikidata's public query service declares for every query."""

DBPEDIA_PREFIXES = {**_STANDARD_PREFIXES, **PREFIX_TABLES["dbpedia"]}
"""Prefixes that DBpedia's public endpoint predefines, and QALD's own short names."""

FREEBASE_PREFIXES = {**_STANDARD_PREFIXES, **PREFIX_TABLES["freebase"]}
"""Prefixes of the last dump of Freebase."""

PREFIXES_BY_GRAPH: Mapping[str, Mapping[str, str]] = {
    "wikidata": WIKIDATA_PREFIXES,
    "dbpedia": DBPEDIA_PREFIXES,
    "orkg": {**_STANDARD_PREFIXES, **PREFIX_TABLES["orkg"]},
    "dblp": PREFIX_TABLES["dblp"],
    "freebase": FREEBASE_PREFIXES,
}
"""Prefixes that queries may use without declaring them, by graph."""

_GRAPH_PATTERNS = {
    "wikidata": re.compile(r"www\.wikidata\.org/|\b(?:wdt?|ps?|pq):[QP][0-9]"),
    "dbpedia": re.compile(r"dbpedia\.org/|\b(?:dbo|dbr|dbp|dbc|res):"),
}


def detect_graph(queries: Iterable[str]) -> str | None:
    """Return `wikidata` or `dbpedia`, whichever more queries mention; None if no query does."""
    counts = Counter(
        graph
        for query in queries
        for graph, pattern in _GRAPH_PATTERNS.items()
        if pattern.search(query)
    )
    return max(counts, key=counts.__getitem__) if counts else None


def expand_wikidata_name(name: str) -> str:
    """Return the IRI of `Q42`, `wdt:P31`, `P31` or `R31`."""
    prefix, _, local = name.rpartition(":")
    if prefix in WIKIDATA_PREFIXES and local:
        return WIKIDATA_PREFIXES[prefix] + local
    if re.fullmatch(r"[PR][0-9]+", name):
        return f"{WIKIDATA_PREFIXES['wdt']}P{name[1:]}"
    if re.fullmatch(r"Q[0-9]+", name):
        return WIKIDATA_PREFIXES["wd"] + name
    return name
