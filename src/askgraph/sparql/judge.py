"""Judge of a SPARQL query: its form, its safety, its services; nothing is run here.

`checked` parses the query. Before that, a lexer that knows strings, comments and IRIs settles the
prefixes, the codepoint escapes (which parsers treat differently, so none is left in the text that
is sent), and the few places where another parser may read the same text differently.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal as Choice
from typing import NoReturn, cast, get_args

from pyoxigraph import NamedNode, Variable

from askgraph.deadline import clamp_timeout, describe_expiry
from askgraph.errors import ForbiddenQuery, QueryError, QuerySyntaxError, TimedOut
from askgraph.sparql import Nested, QueryText, walk
from askgraph.sparql.lexer import Token, fail, lexed, position, unescaped, with_declared
from askgraph.sparql.parser import parse_query
from askgraph.sparql.serializer import Written

Form = Choice["SELECT", "ASK", "CONSTRUCT", "DESCRIBE"]

MAX_LENGTH = 1_000_000  # characters that are looked at at all
MAX_PARSED = 200_000  # characters that are parsed
MAX_DEPTH = 100  # brackets within brackets
MAX_PARTS = 5_000  # words and signs that a store's parser recurses over
MAX_SERVICES = 16

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
    one too deep to be judged, or with more than `most` characters.
    """
    text = _prepared(query, prefixes)
    if len(text) > most:
        raise _too_long(text, most)
    named = named_services(text)
    if len(named) > MAX_SERVICES:
        raise QueryError(f"the query has {len(named):,} SERVICE clauses; at most {MAX_SERVICES}")
    _refuse_services([name for name in named if _IN_FULL.match(name)], allowed_services)
    try:
        tree = parse_query(unescaped(query), prefixes or {}).tree
    except QuerySyntaxError:
        _refuse_update(text)
        raise
    services = tuple(_called_in(tree)) if "service" in text.lower() else ()
    _refuse_disagreement(text, lexed(text).given, len(services))
    _refuse_services(services, allowed_services)
    return CheckedQuery(text, _FORMS[tree.form], services, query)


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
    form = _FORMS.get(lexed(text).first_keyword)
    if form is None or _suspect(text, given):
        return checked(query, allowed_services=allowed_services, prefixes=prefixes, most=most)
    return CheckedQuery(text, form, given=query)


def _too_long(text: str, most: int) -> QueryError:
    return QueryError(f"the query has {len(text):,} characters; at most {most:,} are parsed")


def _calls_service(query: Written) -> bool:
    return "SERVICE" in query and any(_called_in(query.tree))


def may_call_service(query: str) -> bool:
    """Tell whether a text may have a SERVICE clause, also one written with escapes."""
    text = unescaped(query) if "\\" in query else query
    return "service" in text.lower()


def _prepared(query: str, prefixes: Mapping[str, str] | None) -> str:
    """The text to send: no escape is left in it, and its prefixes are declared."""
    if len(query) > MAX_LENGTH:
        raise QueryError(f"the query has {len(query):,} characters; at most {MAX_LENGTH:,} are run")
    text = unescaped(query)
    refuse_size(text)
    refuse_undeclared(text, prefixes or {})
    return with_declared(text, prefixes or {})


def refuse_undeclared(text: str, known: Collection[str]) -> None:
    """Raise `QuerySyntaxError` for a prefix that a text does not declare and that is not known."""
    for prefix, token in lexed(text).undeclared.items():
        if prefix not in known:
            fail(text, token.start, f"the prefix {prefix + ':'!r} is not declared")


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
_IN_FULL = re.compile(r"\?|[A-Za-z][A-Za-z0-9+.-]*://")


def _services(given: Sequence[Token]) -> list[Token]:
    """The words SERVICE, also as the tag of a language."""
    return [token for token in given if token.text.upper() in ("SERVICE", "@SERVICE")]


def _refuse_disagreement(text: str, given: Sequence[Token], services: int) -> None:
    if len(_services(given)) != services or ("service" in text.lower() and _two_readings(given)):
        raise ForbiddenQuery(
            "the query may hide a SERVICE from a part of the parsers: write IRIs in full"
            " (<http://…>) and put spaces around '<' and '>'"
        )


def _called_in(part: object) -> Iterator[str]:
    """Yield what the SERVICE clauses of a tree name; refuse one within another."""
    for node in walk(part):
        if isinstance(node, Nested) and node.word == "SERVICE":
            if any(isinstance(one, Nested) and one.word == "SERVICE" for one in walk(node.group)):
                raise ForbiddenQuery(
                    "a SERVICE within a SERVICE is not run: put the two next to each other"
                )
            is_variable = isinstance(node.name, Variable)
            yield str(node.name) if is_variable else cast("NamedNode", node.name).value


def named_services(text: str) -> list[str]:
    """Return what the SERVICE clauses of a text name, also of one that cannot be parsed.

    A word SERVICE before anything else is none.
    """
    given = [token for token in lexed(text).given if token.text.upper() != "SILENT"]
    declared, named = lexed(text).declared, list[str]()
    for word, there in pairwise(given):
        if word.text.upper() != "SERVICE":
            continue
        prefix, _, local = there.text.partition(":")
        if there.kind == "variable":
            named.append(f"?{there.text[1:]}")
        elif there.kind == "iri":
            named.append(there.text[1:-1])
        elif there.kind == "pname" and prefix in declared:
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


def datasets(text: str) -> tuple[str, ...]:
    """Return the IRIs that a query names in FROM and FROM NAMED.

    Raises `QuerySyntaxError` if it cannot be read, or has a FROM within a query within it.
    """
    if isinstance(text, Written):
        return tuple(clause.rpartition(" ")[2][1:-1] for clause in text.tree.datasets)
    if not _FROM.search(text):
        return ()
    clauses = parse_query(text).tree.datasets
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


def in_time(seconds: float) -> float:
    """Return the seconds that a request may take: so many, or what the question has left.

    Raises `TimedOut` if it has none left: then nothing is sent.
    """
    left = clamp_timeout(seconds)
    if not left:
        raise TimedOut(describe_expiry() or "a request has no time at all")
    return left


@dataclass(frozen=True)
class Asked:
    """A query as it came to an endpoint; an ASK has no `limit`."""

    form: Form
    query: str
    timeout: float | None
    limit: int | None = None

    def ready(self, prefixes: Mapping[str, str], services: Collection[str] = ()) -> CheckedQuery:
        """Return the query as it may be run; `QueryError` if it is none of its form."""
        found = admitted(self.query, allowed_services=services, prefixes=prefixes)
        if found.form != self.form:
            raise QueryError(f"{self.form} was asked for, but the query is {found.form}")
        return found

    def seconds(self, usual: float) -> float:
        """Return the seconds that it may take, `usual` ones unless it says otherwise."""
        return in_time(usual if self.timeout is None else self.timeout)

    def rows(self, most: int) -> int:
        """Return how many rows, or triples, are wanted: `most` at most."""
        return most if self.limit is None else min(self.limit, most)


def form_of(query: str) -> str:
    """Return SELECT, ASK, CONSTRUCT or DESCRIBE; empty if the query is none of them."""
    if isinstance(query, QueryText):
        return query.tree.form
    word = lexed(query).first_keyword
    return word if word in _FORMS else ""
