"""Judge of a SPARQL query: its form, its safety, its services; nothing is run here.

A query is judged twice, and both judgements must agree. `checked` parses it with rdflib and walks
the algebra. Before that, a lexer that knows strings, comments and IRIs settles the prefixes, the
codepoint escapes (which parsers treat differently, so none is left in the text that is sent), and
the few places where two parsers may read the same text differently.
"""

import contextlib
import logging
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, NoReturn, cast, get_args
from typing import Literal as Choice

from askgraph.errors import ForbiddenQuery, QueryError, QuerySyntaxError
from askgraph.sparql import Nested, walk
from askgraph.sparql.lexer import (
    Token,
    edited,
    fail,
    lexed,
    position,
    unescaped,
    with_declared,
    with_full_iris,
)
from askgraph.sparql.write import Written

Form = Choice["SELECT", "ASK", "CONSTRUCT", "DESCRIBE"]

MAX_LENGTH = 1_000_000  # characters that are looked at at all
MAX_PARSED = 200_000  # characters that rdflib is given
MAX_DEPTH = 100  # brackets within brackets
MAX_PARTS = 5_000  # words and signs that a store's parser recurses over
MAX_SERVICES = 16  # rdflib's time grows with their square

_FORMS: dict[str, Form] = {form: form for form in get_args(Form)}
_UPDATES = frozenset("INSERT DELETE LOAD CLEAR DROP CREATE ADD MOVE COPY WITH".split())


@dataclass(frozen=True)
class CheckedQuery:
    """A query that may be run: the text to send, its form, the services that it calls.

    `given` is the text as its author has it, whose lines and columns errors are to count.
    """

    text: str
    form: Form
    services: tuple[str, ...] = ()
    given: str = field(default="", compare=False)


def checked(
    query: str,
    *,
    allowed_services: Collection[str] = (),
    prefixes: Mapping[str, str] | None = None,
    most: int = MAX_PARSED,
) -> CheckedQuery:
    """Return the query as it may be sent, after a full parse.

    Prefixes that it uses without declaring them are taken from `prefixes` and declared in the text
    returned. Raises `QuerySyntaxError` (with line and column in the text as given),
    `ForbiddenQuery` for an update or for a SERVICE outside `allowed_services`, and `QueryError` for
    one too deep to be judged, or with more than `most` characters: a parse takes a second for some
    ten thousand.
    """
    text = _prepared(query, prefixes)
    if len(text) > most:
        raise _too_long(text, most)
    given = lexed(text).given
    _refuse_nested(given)
    _refuse_services(_named_services(text), allowed_services)
    form, services = _verdict(text, _offset(query, text))
    _refuse_disagreement(text, given, len(services))
    _refuse_services(services, allowed_services)
    return CheckedQuery(text, form, services, query)


def admitted(
    query: str,
    *,
    allowed_services: Collection[str] = (),
    prefixes: Mapping[str, str] | None = None,
    most: int = MAX_PARSED,
) -> CheckedQuery:
    """Return the query as it may be sent, parsing it only if it could be anything but a read.

    One that the program wrote from a tree without a SERVICE is a read, and is not looked at. A text
    in which no word outside strings, comments and IRIs is one of INSERT, DELETE, LOAD, CLEAR, DROP,
    CREATE, ADD, MOVE, COPY, WITH or SERVICE can be neither an update nor reach a service, under any
    grammar; its syntax is left to the endpoint. All others go to `checked`. This takes
    microseconds, a parse milliseconds; `allowed_services` are not looked at. Only a query that is
    parsed may have no more than `most` characters.
    """
    if isinstance(query, Written) and not _calls_service(query):
        return CheckedQuery(query, _FORMS[query.tree.form], given=query)
    text = _prepared(query, prefixes)
    given = lexed(text).given
    form = _FORMS.get(_first_keyword(given))
    if form is None or _suspect(text, given):
        return checked(query, allowed_services=allowed_services, prefixes=prefixes, most=most)
    return CheckedQuery(text, form, given=query)


def _too_long(text: str, most: int) -> QueryError:
    return QueryError(f"the query has {len(text):,} characters; at most {most:,} are parsed")


def _calls_service(query: Written) -> bool:
    is_service = (isinstance(one, Nested) and one.word == "SERVICE" for one in walk(query.tree))
    return "SERVICE" in query and any(is_service)


def _prepared(query: str, prefixes: Mapping[str, str] | None) -> str:
    """The text to send: no escape is left in it, and its prefixes are declared."""
    if len(query) > MAX_LENGTH:
        raise QueryError(f"the query has {len(query):,} characters; at most {MAX_LENGTH:,} are run")
    text = unescaped(query)
    refuse_size(text)
    for prefix, token in lexed(text).undeclared.items():
        if prefix not in (prefixes or {}):
            fail(text, token.start, f"the prefix {prefix + ':'!r} is not declared")
    return with_declared(text, prefixes or {})


def refuse_size(text: str) -> None:
    """Raise `QueryError` if a text is too deep or too long for a store, which recurses over parts.

    The values of VALUES and of IN (…) are data: they are not counted.
    """
    depth, counted = 0, 0
    data: int | None = None  # the depth within which there are only values
    before = None
    for token in lexed(text).given:
        opens, closes = token.text in _OPENING, token.text in ")]}"
        if data is None and opens and before in ("VALUES", "IN"):
            data = depth
        depth += opens - closes
        if depth > MAX_DEPTH:
            _refuse_at(text, token, f"more than {MAX_DEPTH} brackets within brackets")
        if data is not None and depth <= data:
            data = None
        counted += data is None or (token.kind == "mark" and token.text not in _DATA)
        if counted > MAX_PARTS:
            _refuse_at(text, token, f"more than {MAX_PARTS:,} words and signs outside VALUES")
        if not (before == "VALUES" and (token.kind == "variable" or token.text in "()")):
            before = token.text.upper() if token.kind == "word" else None


_OPENING = frozenset("([{")
_DATA = frozenset(["(", ")", ",", ".", "^^"])


def _refuse_at(text: str, token: Token, why: str) -> NoReturn:
    line, column = position(text, token.start)
    raise QueryError(f"line {line}, column {column}: {why}")


def _first_keyword(given: Sequence[Token]) -> str:
    """Return the first word after the prologue, in capitals."""
    for before, token in zip([None, *given], given, strict=False):
        if token.kind == "word" and token.text.upper() not in ("PREFIX", "BASE"):
            return token.text.upper()
        follows_base = before and before.text.upper() == "BASE"
        if token.kind == "mark" or (token.kind == "string" and not follows_base):
            break
    return ""


def _suspect(text: str, given: Sequence[Token]) -> bool:
    """Tell whether any grammar could read an update or a SERVICE into the text.

    Some parsers see a SERVICE in `trueSERVICE<http://…>` and in `SERVICE:x`.
    """
    capitals = text.upper()
    if not any(word in capitals for word in (*_UPDATES, "SERVICE")):
        return False
    for token in given:
        word = token.text.upper()
        is_word = token.kind in ("word", "language")
        if is_word and (word.strip("@") in _UPDATES or "SERVICE" in word):
            return True
        if token.kind == "pname" and "SERVICE" in word.partition(":")[0]:
            return True
        if token.kind == "mark" and word in "\"'\\":
            return True
    return _two_readings(given)


def _two_readings(given: Sequence[Token]) -> bool:
    """Tell whether some `<…>` may also be read as a comparison that ends within it.

    In `?a<b:x)SERVICE#>` one parser sees an IRI and the other a SERVICE. An IRI with `://` has no
    second reading, and one without a bracket or a comment sign cannot end the comparison.
    """
    return any(
        token.kind == "iri"
        and ("#" in token.text or ")" in token.text)
        and not _ABSOLUTE.match(token.text)
        for token in given
    )


_NAMED = 5  # services that are refused together, by name
_ADDED = re.compile(r"https?://[^\s<>\"{}|^`\\]+\Z")
_ABSOLUTE = re.compile(r"<[A-Za-z][A-Za-z0-9+.-]*://")


def _services(given: Sequence[Token]) -> list[Token]:
    """The words SERVICE, also as the tag of a language."""
    return [token for token in given if token.text.upper() in ("SERVICE", "@SERVICE")]


def _refuse_disagreement(text: str, given: Sequence[Token], services: int) -> None:
    if len(_services(given)) != services or ("service" in text.lower() and _two_readings(given)):
        raise ForbiddenQuery(
            "the query may hide a SERVICE from a part of the parsers: write IRIs in full"
            " (<http://…>) and put spaces around '<' and '>'"
        )


def _refuse_nested(given: Sequence[Token]) -> None:
    """Refuse a SERVICE within a SERVICE, which rdflib cannot parse and nobody here evaluates."""
    depth, within = 0, list[int]()
    for token in given:
        if token.kind == "word" and token.text.upper() == "SERVICE":
            if within:
                raise ForbiddenQuery(
                    "a SERVICE within a SERVICE is not run: put the two next to each other"
                )
            within.append(depth)
        depth += (token.text == "{") - (token.text == "}")
        if token.text == "}" and within and depth <= within[-1]:
            within.pop()


def _named_services(text: str) -> list[str]:
    """Return what the SERVICE clauses of a text name; a word SERVICE before anything else is none.

    Raises `QueryError` for more of them than rdflib can parse: it looks for each in the whole text.
    """
    given = [token for token in lexed(text).given if token.text.upper() != "SILENT"]
    after = [there for word, there in pairwise(given) if word.text.upper() == "SERVICE"]
    if len(after) > MAX_SERVICES:
        raise QueryError(f"the query has {len(after):,} SERVICE clauses; at most {MAX_SERVICES}")
    declared = lexed(text).declared
    named = list[str]()
    for there in after:
        prefix, _, local = there.text.partition(":")
        if there.kind == "variable":
            named.append(f"?{there.text[1:]}")
        elif there.kind == "iri" and _ABSOLUTE.match(there.text):
            named.append(there.text[1:-1])
        elif there.kind == "pname" and _ABSOLUTE.match(f"<{declared[prefix]}"):
            named.append(declared[prefix] + local.replace("\\", ""))
    return named


def _refuse_services(named: Collection[str], allowed: Collection[str]) -> None:
    refused = [service for service in dict.fromkeys(named) if service not in allowed]
    if refused:
        _refuse_service(refused[0], allowed, refused[1:])


def _refuse_service(service: str, allowed: Collection[str], others: Sequence[str] = ()) -> NoReturn:
    hint = "; allowed: " + ", ".join(sorted(allowed)) if allowed else ""
    if service.startswith("?"):
        raise ForbiddenQuery(
            f"a SERVICE to a variable ({service}) is not run, as where it leads is not known"
            f" before: name the graph{hint}"
        )
    also = "".join(f", nor to <{other}>" for other in others[:_NAMED])
    added = f"; to call it, add it: askgraph add NAME {service}" if _ADDED.match(service) else ""
    raise ForbiddenQuery(
        f"a SERVICE to <{service}> is not allowed{also}:"
        f" only the workspace's own graphs may be called{hint}{added}"
    )


def _offset(query: str, text: str) -> int:
    """Return the number of PREFIX lines that were put before the query."""
    return max(0, text.count("\n") - unescaped(query).count("\n"))


# What follows needs rdflib, which takes 0.15 s to import: it is imported on first use.


@dataclass(frozen=True)
class SyntaxFault:
    """The place at which a text does not parse, and the reason."""

    message: str
    at: int


@lru_cache(maxsize=512)
def _verdict(text: str, added_lines: int) -> tuple[Form, tuple[str, ...]]:
    root = algebra(text, added_lines=added_lines)
    form = _FORMS[root.name.removesuffix("Query").upper()]
    found = _called_in(root)
    if found.total() < len(_services(lexed(text).given)):
        found = _called_in(_as_written(text))
    return form, tuple(found.elements())


def _as_written(text: str) -> object:
    """The query before rdflib (7.6) makes algebra of it, which leaves out some EXISTS."""
    from rdflib.plugins.sparql.parser import Query

    with _PARSING:
        return Query.parse_string(with_full_iris(_with_service_on_its_line(text)), parse_all=True)


def _called_in(root: object) -> Counter[str]:
    """What the SERVICE clauses name."""
    from rdflib import Variable

    named = [n.term for n in nodes(root) if getattr(n, "name", "") == "ServiceGraphPattern"]
    return Counter(f"?{term}" if isinstance(term, Variable) else str(term) for term in named)


def algebra(text: str, *, added_lines: int = 0) -> Any:
    """Return rdflib's algebra of a query; for this folder only, as it is not frozen."""
    return _parsed(text, added_lines).algebra


@lru_cache(maxsize=128)
def _parsed(text: str, added_lines: int = 0) -> Any:
    from pyparsing import ParseBaseException
    from rdflib.plugins.sparql.algebra import translateQuery
    from rdflib.plugins.sparql.parser import Query

    if len(text) > MAX_PARSED:
        raise _too_long(text, MAX_PARSED)
    lines = _with_service_on_its_line(text)

    def translated() -> Any:
        tree = Query.parse_string(lines, parse_all=True)
        if _repeats_a_namespace(lines):
            tree = Query.parse_string(with_full_iris(lines), parse_all=True)
        return translateQuery(tree)

    try:
        with _PARSING, _silent(logging.getLogger("rdflib.term")):
            return _deeply(translated)
    except ParseBaseException as problem:
        _refuse_update(text)
        _syntax_error(text, problem.loc, added_lines, problem)
    except RecursionError as problem:
        raise QueryError("the query is nested too deeply, or too long, to be parsed") from problem
    except Exception as problem:  # rdflib raises bare Exception
        raise QuerySyntaxError(f"the query makes no sense: {_one_line(problem)}") from problem


@contextlib.contextmanager
def _silent(log: logging.Logger) -> Iterator[None]:
    """Keep a log quiet: what rdflib thinks of a literal's form is no matter, as it runs nothing."""
    before = log.disabled
    log.disabled = True
    try:
        yield
    finally:
        log.disabled = before


def _repeats_a_namespace(text: str) -> bool:
    """Whether two prefixes stand for one namespace: rdflib (7.6) forgets the first of them."""
    namespaces = lexed(text).declared.values()
    return len(set(namespaces)) < len(namespaces)


def _with_service_on_its_line(text: str) -> str:
    """Break the line before each SERVICE: rdflib (7.6) takes a `#` before it for a comment."""
    if "service" not in text.lower():
        return text
    return edited(
        text,
        (
            (token.start - (text[token.start - 1 : token.start] == " "), token.start, "\n")
            for token in _services(lexed(text).given)
        ),
    )


def _deeply(parse: Callable[[], Any]) -> Any:
    """Call a recursive parser; if the stack is too small, once more on a larger one."""
    try:
        return parse()
    except RecursionError:
        pass
    with _ONE_AT_A_TIME:
        limit, size = sys.getrecursionlimit(), threading.stack_size(_STACK)
        sys.setrecursionlimit(_FRAMES)
        try:
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(parse).result()
        finally:
            sys.setrecursionlimit(limit)
            threading.stack_size(size)


_PARSING = threading.Lock()  # rdflib's parser is not safe for threads
_ONE_AT_A_TIME = threading.Lock()
_STACK = 256 * 1024 * 1024
_FRAMES = 20_000


def nodes(node: object) -> Iterator[Any]:
    """Yield every node of the algebra, those inside expressions and services too."""
    waiting, seen = [node], set[int]()
    while waiting:
        current = waiting.pop()
        if isinstance(current, str) or current is None or id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, dict):
            yield current
            waiting.extend(reversed([v for k, v in current.items() if k != "_vars"]))
        elif isinstance(current, list | tuple | set) or hasattr(current, "as_list"):
            waiting.extend(reversed(list(cast("list[object]", current))))


def _refuse_update(text: str) -> None:
    words = [t for t in lexed(text).given if t.kind not in ("iri", "pname")]
    words = [t for t in words if t.text.upper() not in ("PREFIX", "BASE")][:2]
    first = words[0].text.upper() if words and words[0].kind == "word" else ""
    if first not in _UPDATES:
        return
    second = words[1].text.upper() if len(words) > 1 else ""
    name = f"{first} DATA" if second == "DATA" else first
    raise ForbiddenQuery(
        "only SELECT, ASK, CONSTRUCT and DESCRIBE queries are run;"
        f" this one is an update ({name} …)"
    )


def _syntax_error(text: str, loc: int, added_lines: int, cause: BaseException) -> NoReturn:
    fault = _fault(text, loc)
    line, column = position(text, fault.at)
    line = max(1, line - added_lines)
    raise QuerySyntaxError(
        f"line {line}, column {column}: {fault.message}", line=line, column=column
    ) from cause


def _fault(text: str, loc: int) -> SyntaxFault:
    given = lexed(text).given
    if not given:
        return SyntaxFault("the query is empty", 0)
    at = _furthest(text, loc)
    found = next((token for token in given if token.start >= at), None)
    within = next((token for token in given if token.start < at < token.end), None)
    for token in given:
        if token.kind == "mark" and token.text in "\"'":
            return SyntaxFault("a string starts here and does not end", token.start)
    bracket = _bracket(given)
    if bracket and (found is None or bracket.at <= at):
        return bracket
    if found is None and within is None:
        return SyntaxFault("the query ends too early", len(text.rstrip()))
    wrong = within or cast("Token", found)
    return SyntaxFault(f"{_shortened(wrong.text)!r} was not expected here", wrong.start)


def _bracket(given: Sequence[Token]) -> SyntaxFault | None:
    """Find the first bracket without its partner."""
    partner = {")": "(", "]": "[", "}": "{"}
    opened: list[Token] = []
    for token in given:
        if token.kind != "mark":
            continue
        if token.text in "([{":
            opened.append(token)
        elif token.text in partner:
            if not opened or opened[-1].text != partner[token.text]:
                return SyntaxFault(f"{token.text!r} closes nothing", token.start)
            opened.pop()
    if opened:
        return SyntaxFault(f"{opened[-1].text!r} is never closed", opened[-1].start)
    return None


def _furthest(text: str, loc: int) -> int:
    """Return where a text that does not parse goes wrong, as far right as a parser came.

    rdflib names the start of the outermost construct; pyoxigraph the furthest character. The mark
    at the end makes sure that pyoxigraph only parses: nothing is ever evaluated here.
    """
    from pyoxigraph import Store

    if "service" in text.lower():
        return loc
    try:
        Store().query(text + "\n\x01")
    except SyntaxError as problem:
        if found := re.match(r"error at (\d+):(\d+)", str(problem)):
            return max(loc, _index(text, int(found[1]), int(found[2])))
    except (ValueError, OSError):
        return loc
    return loc


def _index(text: str, line: int, column: int) -> int:
    starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    return min(len(text), starts[min(line, len(starts)) - 1] + column - 1)


def _shortened(text: str, length: int = 40) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def _one_line(problem: BaseException) -> str:
    return " ".join(str(problem).split())[:200] or type(problem).__name__


def datasets(text: str) -> tuple[str, ...]:
    """Return the IRIs that a query names in FROM and FROM NAMED.

    Raises `QuerySyntaxError` if it cannot be read, or has a FROM within a query within it.
    """
    if isinstance(text, Written):
        return tuple(clause.rpartition(" ")[2][1:-1] for clause in text.tree.datasets)
    if not _FROM.search(text):
        return ()
    given = lexed(text).given
    words = sum(token.kind == "word" and token.text.upper() == "FROM" for token in given)
    if not words:
        return ()
    from askgraph.sparql.read import read  # few queries name the graphs that they ask

    clauses = read(text).datasets
    if len(clauses) != words:
        raise QuerySyntaxError("a FROM stands where none can")
    return tuple(clause.rpartition(" ")[2][1:-1] for clause in clauses)


_FROM = re.compile(r"\bFROM\b", re.IGNORECASE)


def own_limit(text: str) -> int | None:
    """Return the LIMIT of the query itself, not of a query within it; None if it has none."""
    if isinstance(text, Written):
        return text.tree.limit
    depth, found = 0, None
    for token, following in pairwise(lexed(text).given):
        depth += (token.text == "{") - (token.text == "}")
        if depth == 0 and token.kind == "word" and token.text.upper() == "LIMIT":
            found = int(following.text) if following.text.isdecimal() else None
    return found


def starred(text: str) -> tuple[str, ...] | None:
    """Return the variables of a `SELECT *` in the order written; None for any other query."""
    if "*" not in text or (isinstance(text, Written) and text.tree.columns):
        return None
    given = lexed(text).given
    words = (token.text.upper() for token in given)
    while (word := next(words, "")) not in _FORMS:
        if not word:
            return None
    star = next(words, "")
    star = next(words, "") if star in ("DISTINCT", "REDUCED") else star
    if word != "SELECT" or star != "*":
        return None
    return tuple(dict.fromkeys(token.text[1:] for token in given if token.kind == "variable"))
