"""Check a SPARQL query before it runs: its form, its safety, its services.

`check_query` parses the query. Before that, a lexer that knows strings, comments and IRIs resolves
the prefixes and the codepoint escapes (which parsers treat differently, so that none remains in
the text that is sent), and finds places that another parser may read differently.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import pairwise
from typing import Literal as Choice
from typing import NoReturn, cast, get_args

from pyoxigraph import NamedNode, Variable

from askgraph.deadline import clamp_timeout, describe_expiry
from askgraph.errors import ForbiddenQuery, QueryError, QuerySyntaxError, TimedOut
from askgraph.sparql import Nested, QueryText, lexer, walk
from askgraph.sparql.parser import parse_query
from askgraph.sparql.serializer import SerializedQuery

Form = Choice["SELECT", "ASK", "CONSTRUCT", "DESCRIBE"]

MAX_QUERY_CHARACTERS = 1_000_000  # longer queries are rejected unread
MAX_PARSED_CHARACTERS = 200_000  # characters that are parsed
MAX_BRACKET_DEPTH = 100  # brackets within brackets
MAX_TOKENS_OUTSIDE_VALUES = 5_000  # words and signs that a store's parser recurses over
MAX_SERVICE_CLAUSES = 16

_FORMS: dict[str, Form] = {form: form for form in get_args(Form)}
_UPDATE_KEYWORDS = frozenset("INSERT DELETE LOAD CLEAR DROP CREATE ADD MOVE COPY WITH".split())


@dataclass(frozen=True)
class CheckedQuery:
    """A query that may run: the text to send, its form, and the services that it calls.

    `given` is the author's text; lines and columns of errors refer to it.
    """

    text: str
    form: Form
    services: tuple[str, ...] = ()
    original_text: str = field(default="", compare=False)


def check_query(
    query: str,
    *,
    allowed_services: Collection[str] = (),
    prefixes: Mapping[str, str] | None = None,
    max_characters: int = MAX_PARSED_CHARACTERS,
) -> CheckedQuery:
    """Parse a query and return it ready to send.

    Prefixes that it uses without declaring them are declared in the text returned.

    Args:
        allowed_services: IRIs that SERVICE clauses may name.
        prefixes: namespaces for undeclared prefixes.
        max_characters: maximum length of a query.

    Raises:
        QuerySyntaxError: it cannot be parsed; line and column refer to the original text.
        ForbiddenQuery: it is an update, or calls a service that is not allowed.
        QueryError: it is too deeply nested or too long.
    """
    text = _prepare_text(query, prefixes)
    if len(text) > max_characters:
        raise QueryError(
            f"the query has {len(text):,} characters; at most {max_characters:,} are parsed"
        )
    service_names = find_service_names(text)
    if len(service_names) > MAX_SERVICE_CLAUSES:
        raise QueryError(
            f"the query has {len(service_names):,} SERVICE clauses; at most "
            f"{MAX_SERVICE_CLAUSES} are allowed"
        )
    _check_services(
        [
            service_name
            for service_name in service_names
            if _VARIABLE_OR_ABSOLUTE_IRI.match(service_name)
        ],
        allowed_services,
    )
    try:
        tree = parse_query(lexer.unescape_codepoints(query), prefixes or {}).tree
    except QuerySyntaxError:
        _check_no_update(text)
        raise
    services = tuple(_find_services(tree)) if "service" in text.lower() else ()
    tokens = lexer.tokenize(text).tokens
    # The words SERVICE, including those that look like a language tag.
    words = [token for token in tokens if token.text.upper() in ("SERVICE", "@SERVICE")]
    if len(words) != len(services) or ("service" in text.lower() and _is_ambiguous(tokens)):
        raise ForbiddenQuery(
            "some parsers may overlook a SERVICE in this query: write IRIs in full "
            "(<http://…>) and put spaces around '<' and '>'"
        )
    _check_services(services, allowed_services)
    return CheckedQuery(text, _FORMS[tree.form], services, query)


def admit_query(
    query: str,
    *,
    allowed_services: Collection[str] = (),
    prefixes: Mapping[str, str] | None = None,
    max_characters: int = MAX_PARSED_CHARACTERS,
) -> CheckedQuery:
    """Return the query ready to send, parsing it only if it might be anything but a read.

    A query that the program wrote from a tree without a SERVICE is a read and needs no check. A
    text in which no word outside strings, comments and IRIs is one of INSERT, DELETE, LOAD, CLEAR,
    DROP, CREATE, ADD, MOVE, COPY, WITH or SERVICE can be neither an update nor reach a service,
    under any grammar; the endpoint reports its syntax errors. All others go to `check_query`. This
    takes microseconds, a parse milliseconds; `allowed_services` and `max_characters` only apply to
    queries that are parsed.
    """
    if isinstance(query, SerializedQuery) and not (
        "SERVICE" in query and any(_find_services(query.tree))
    ):
        return CheckedQuery(query, _FORMS[query.tree.form], original_text=query)
    text = _prepare_text(query, prefixes)
    tokens = lexer.tokenize(text).tokens
    form = _FORMS.get(lexer.tokenize(text).first_keyword)
    if form is None or _is_suspicious(text, tokens):
        return check_query(
            query,
            allowed_services=allowed_services,
            prefixes=prefixes,
            max_characters=max_characters,
        )
    return CheckedQuery(text, form, original_text=query)


def can_call_service(query: str) -> bool:
    """Return whether a text may have a SERVICE clause, including one written with escapes."""
    return "service" in (lexer.unescape_codepoints(query) if "\\" in query else query).lower()


def _prepare_text(query: str, prefixes: Mapping[str, str] | None) -> str:
    if len(query) > MAX_QUERY_CHARACTERS:
        raise QueryError(
            f"the query has {len(query):,} characters; at most {MAX_QUERY_CHARACTERS:,} are allowed"
        )
    text = lexer.unescape_codepoints(query)
    check_size(text)
    check_prefixes(text, prefixes or {})
    return lexer.declare_prefixes(text, prefixes or {})


def check_prefixes(text: str, known_prefixes: Collection[str]) -> None:
    """Raise `QuerySyntaxError` for a prefix that is neither declared in a text nor known."""
    for prefix, token in lexer.tokenize(text).undeclared_prefixes.items():
        if prefix not in known_prefixes:
            lexer.raise_syntax_error(
                text, token.start, f"the prefix {prefix + ':'!r} is not declared"
            )


def check_size(text: str) -> None:
    """Raise `QueryError` if a text is too deep or too long for a store, which parses recursively.

    The values of VALUES and of IN (…) are data: they do not count.
    """
    depth, token_count = 0, 0
    data_depth: int | None = None  # the depth inside which only values occur
    previous_keyword = None
    for token in lexer.tokenize(text).tokens:
        is_opening, is_closing = token.text in _OPENING_BRACKETS, token.text in ")]}"
        if data_depth is None and is_opening and previous_keyword in ("VALUES", "IN"):
            data_depth = depth
        depth += is_opening - is_closing
        if depth > MAX_BRACKET_DEPTH:
            _raise_at(text, token, f"more than {MAX_BRACKET_DEPTH} nested brackets")
        if data_depth is not None and depth <= data_depth:
            data_depth = None
        token_count += data_depth is None or (
            token.kind == "mark" and token.text not in _DATA_MARKS
        )
        if token_count > MAX_TOKENS_OUTSIDE_VALUES:
            _raise_at(text, token, f"more than {MAX_TOKENS_OUTSIDE_VALUES:,} tokens outside VALUES")
        if not (previous_keyword == "VALUES" and (token.kind == "variable" or token.text in "()")):
            previous_keyword = token.text.upper() if token.kind == "word" else None


_OPENING_BRACKETS = frozenset("([{")
_DATA_MARKS = frozenset(["(", ")", ",", ".", "^^"])


def _raise_at(text: str, token: lexer.Token, reason: str) -> NoReturn:
    line, column = lexer.locate(text, token.start)
    raise QueryError(f"line {line}, column {column}: {reason}")


def _is_suspicious(text: str, tokens: Sequence[lexer.Token]) -> bool:
    """Return whether any grammar could read an update or a SERVICE into the text: `SERVICE:x`."""
    capitals = text.upper()
    if not any(word in capitals for word in (*_UPDATE_KEYWORDS, "SERVICE")):
        return False
    for token in tokens:
        word = token.text.upper()
        is_word = token.kind in ("word", "language")
        if is_word and (word.strip("@") in _UPDATE_KEYWORDS or "SERVICE" in word):
            return True
        if token.kind == "pname" and "SERVICE" in word.partition(":")[0]:
            return True
        if token.kind == "mark" and word in "\"'\\":
            return True
    return _is_ambiguous(tokens)


def _is_ambiguous(tokens: Sequence[lexer.Token]) -> bool:
    """Return whether some `<…>` may also be read as a comparison that ends within it.

    In `?a<b:x)SERVICE#>` one parser sees an IRI and another one a SERVICE. An IRI with `://` has
    only one reading, and one without a bracket or a comment sign cannot end the comparison.
    """
    return any(
        token.kind == "iri"
        and ("#" in token.text or ")" in token.text)
        and not _ABSOLUTE_IRI.match(token.text)
        for token in tokens
    )


_MAX_LISTED_SERVICES = 5  # services that are refused together, by name
_HTTP_URL = re.compile(r"https?://[^\s<>\"{}|^`\\]+\Z")
_ABSOLUTE_IRI = re.compile(r"<[A-Za-z][A-Za-z0-9+.-]*://")
_VARIABLE_OR_ABSOLUTE_IRI = re.compile(r"\?|[A-Za-z][A-Za-z0-9+.-]*://")


def _find_services(part: object) -> Iterator[str]:
    """Yield the targets of the SERVICE clauses of a tree; reject nested ones."""
    for node in walk(part):
        if isinstance(node, Nested) and node.word == "SERVICE":
            if any(
                isinstance(inner_node, Nested) and inner_node.word == "SERVICE"
                for inner_node in walk(node.group)
            ):
                raise ForbiddenQuery(
                    "a SERVICE within a SERVICE is not run: put the two next to each other"
                )
            is_variable = isinstance(node.name, Variable)
            yield str(node.name) if is_variable else cast("NamedNode", node.name).value


def find_service_names(text: str) -> list[str]:
    """Return the targets of the SERVICE clauses of a text, which need not be parsable.

    A word SERVICE before anything but a variable or an IRI is ignored.
    """
    tokens = [token for token in lexer.tokenize(text).tokens if token.text.upper() != "SILENT"]
    prefixes, names = lexer.tokenize(text).declared_prefixes, list[str]()
    for word, target in pairwise(tokens):
        if word.text.upper() != "SERVICE":
            continue
        prefix, _, local = target.text.partition(":")
        if target.kind == "variable":
            names.append(f"?{target.text[1:]}")
        elif target.kind == "iri":
            names.append(target.text[1:-1])
        elif target.kind == "pname" and prefix in prefixes:
            names.append(prefixes[prefix] + local.replace("\\", ""))
    return names


def _check_services(services: Collection[str], allowed: Collection[str]) -> None:
    forbidden = [service for service in dict.fromkeys(services) if service not in allowed]
    if forbidden:
        service, *further_services = forbidden
        near = get_close_matches(service, allowed, n=1)
        hint = f"; did you mean <{near[0]}>?" if near else ""
        if service.startswith("?"):
            raise ForbiddenQuery(
                f"a SERVICE to a variable ({service}) is not run, because its target is not "
                f"known in advance: name the graph{hint}"
            )
        further_text = "".join(
            f", nor to <{further_service}>"
            for further_service in further_services[:_MAX_LISTED_SERVICES]
        )
        add_hint = (
            f"; to allow it, add it with: askgraph add NAME {service}"
            if _HTTP_URL.match(service)
            else ""
        )
        raise ForbiddenQuery(
            f"a SERVICE to <{service}> is not allowed{further_text}: only the workspace's own "
            f"graphs are allowed{hint}{add_hint}"
        )


def _check_no_update(text: str) -> None:
    words = [token for token in lexer.tokenize(text).tokens if token.kind not in ("iri", "pname")]
    words = [token for token in words if token.text.upper() not in ("PREFIX", "BASE")][:2]
    first_word = words[0].text.upper() if words and words[0].kind == "word" else ""
    if first_word not in _UPDATE_KEYWORDS:
        return
    second_word = words[1].text.upper() if len(words) > 1 else ""
    name = f"{first_word} DATA" if second_word == "DATA" else first_word
    raise ForbiddenQuery(
        "only SELECT, ASK, CONSTRUCT and DESCRIBE queries are run;"
        f" this one is an update ({name} …)"
    )


def list_datasets(text: str) -> tuple[str, ...]:
    """Return the IRIs in FROM (NAMED); raise `QuerySyntaxError` if broken or in a sub-select."""
    if not _FROM_PATTERN.search(text):
        return ()
    tree = text.tree if isinstance(text, SerializedQuery) else parse_query(text).tree
    return tuple(clause.rpartition(" ")[2][1:-1] for clause in tree.datasets)


_FROM_PATTERN = re.compile(r"\bFROM\b", re.IGNORECASE)


def get_limit(text: str) -> int | None:
    """Return the LIMIT of the outermost query; None without one."""
    if isinstance(text, SerializedQuery):
        return text.tree.limit
    depth, limit = 0, None
    for token, following in pairwise(lexer.tokenize(text).tokens):
        depth += (token.text == "{") - (token.text == "}")
        if depth == 0 and token.kind == "word" and token.text.upper() == "LIMIT":
            limit = int(following.text) if following.text.isdecimal() else None
    return limit


def get_star_variables(text: str) -> tuple[str, ...] | None:
    """Return the variables of a `SELECT *` in written order; None for any other query."""
    if "*" not in text or (isinstance(text, SerializedQuery) and text.tree.columns):
        return None
    tokens = lexer.tokenize(text).tokens
    words = (token.text.upper() for token in tokens)
    while (word := next(words, "")) not in _FORMS:
        if not word:
            return None
    star = next(words, "")
    star = next(words, "") if star in ("DISTINCT", "REDUCED") else star
    if word != "SELECT" or star != "*":
        return None
    return tuple(dict.fromkeys(token.text[1:] for token in tokens if token.kind == "variable"))


def limit_to_deadline(seconds: float) -> float:
    """Return the seconds for a request before the deadline; raise `TimedOut` if none are left."""
    remaining = clamp_timeout(seconds)
    if not remaining:
        raise TimedOut(describe_expiry() or "the request has no time left")
    return remaining


@dataclass(frozen=True)
class EndpointRequest:
    """A query as an endpoint receives it; an ASK has no `limit`."""

    form: Form
    query: str
    timeout: float | None
    limit: int | None = None

    def check(self, prefixes: Mapping[str, str], services: Collection[str] = ()) -> CheckedQuery:
        """Return the query ready to run; raise `QueryError` if it has another form."""
        checked_query = admit_query(self.query, allowed_services=services, prefixes=prefixes)
        if checked_query.form != self.form:
            raise QueryError(f"expected {self.form}, but the query is {checked_query.form}")
        return checked_query

    def get_timeout(self, default_seconds: float) -> float:
        """Return the time limit in seconds: its own or the default, within the deadline."""
        return limit_to_deadline(default_seconds if self.timeout is None else self.timeout)

    def get_row_limit(self, max_rows: int) -> int:
        """Return the number of rows or triples to return, at most `max_rows`."""
        return max_rows if self.limit is None else min(self.limit, max_rows)


def get_query_form(query: str) -> str:
    """Return SELECT, ASK, CONSTRUCT or DESCRIBE; empty for any other text."""
    if isinstance(query, QueryText):
        return query.tree.form
    word = lexer.tokenize(query).first_keyword
    return word if word in _FORMS else ""
