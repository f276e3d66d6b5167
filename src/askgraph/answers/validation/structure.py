"""The check of a query's own parts: unbound variables, wrong groups, blocks that do not join."""

from collections.abc import Iterator, Sequence

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.validation import Finding, Kind, Subject, place_of_variable
from askgraph.sparql import (
    AGGREGATES,
    Bind,
    Call,
    Element,
    Expression,
    Filter,
    Group,
    Nested,
    Pattern,
    Query,
    Term,
    Union,
    Values,
    variables_in_scope,
    variables_of,
    walk,
)
from askgraph.sparql.serializer import text_of
from askgraph.sparql.vocabulary import RDF_LANG_STRING, RDF_TYPE, XSD_STRING

__all__ = ["structure"]

_PRODUCT = 0.6  # a product may be meant
_COMPARED = 0.4  # more often it is where both are asked for, and one is of a thing that is named
_NAMED = "="  # stands in a block that is about something named
_WITHIN = 0.4  # a column of a query within another that nothing fills does no harm


def structure(subject: Subject, /) -> Iterator[Finding]:
    """Give columns that no group has, variables that nothing binds, and products of two blocks."""
    if subject.tree is None:
        return
    for query in (one for one in walk(subject.tree) if isinstance(one, Query)):
        yield from _unbound(query, subject.text, sure=1.0 if query is subject.tree else _WITHIN)
        yield from _ungrouped(query, subject.text)
        yield from _unjoined(query)


def _unbound(query: Query, text: str, *, sure: float) -> Iterator[Finding]:
    """Columns that nothing in the WHERE part gives."""
    bound = _bound(query.where)
    bound |= {name.value for _, name in query.group_by if name is not None}
    computed = {name.value for name, value in query.columns if value is not None}
    for name, value in query.columns:
        used = [name] if value is None else list(variables_of(value))
        for variable in dict.fromkeys(used):
            known = variable.value in bound or (value is not None and variable.value in computed)
            if not known:
                yield Finding(
                    Kind.UNBOUND,
                    f"nothing in the query gives {variable} a value",
                    place_of_variable(text, variable.value),
                    str(variable),
                    certainty=sure,
                )


def _bound(part: object) -> set[str]:
    """The names of the variables that a part may give a value."""
    return {name.value for name in variables_in_scope(part)}


def _ungrouped(query: Query, text: str) -> Iterator[Finding]:
    if not query.is_aggregate or query.form != "SELECT":
        return
    keys = {str(name) for _, name in query.group_by if name is not None}
    keys |= {text_of(value) for value, _ in query.group_by}
    computed = {str(name) for name, value in query.columns if value is not None}
    for name, value in query.columns:
        free = [name] if value is None else list(_free(value, keys))
        for variable in dict.fromkeys(free):
            if str(variable) not in keys and (value is None or str(variable) not in computed):
                yield Finding(
                    Kind.UNGROUPED,
                    f"{variable} is neither grouped by nor within an aggregate:"
                    f" add it to GROUP BY, or use SAMPLE({variable})",
                    place_of_variable(text, variable.value),
                    str(variable),
                )


def _free(value: Expression, keys: set[str]) -> Iterator[Variable]:
    """The variables of an expression that stand outside aggregates and keys."""
    if text_of(value) in keys:
        return
    match value:
        case Variable():
            yield value
        case Call(name=name, arguments=arguments) if name.split()[0] not in AGGREGATES:
            for inner in arguments:
                yield from _free(inner, keys)
        case _:
            return


def _unjoined(query: Query) -> Iterator[Finding]:
    """Parts that share no variable, each of several rows."""
    if query.form != "SELECT":
        return
    outside = [
        {name.value for name in variables_of(value)}
        for value in [*(v for _, v in query.columns if v is not None), *query.having]
    ]
    outside += [{name.value for value, _ in query.order for name in variables_of(value)}]
    asked = {name.value for name, value in query.columns if value is None}.union(*outside)
    yield from _products(query.where, outside, asked if query.columns else None)


def _products(
    group: Group, outside: Sequence[set[str]], asked: set[str] | None
) -> Iterator[Finding]:
    """Products in a group; `asked` is what of it the query gives, None if that is all."""
    parts = [
        {*bound, *_named(one)} if (bound := _bound(one)) else set()
        for one in group.elements
        if _multiplies(one)
    ]
    links = [
        {name.value for name in variables_of(one)}
        for one in group.elements
        if isinstance(one, Filter | Bind) or not _multiplies(one)
    ]
    blocks = _blocks([part for part in parts if part], [*links, *outside])
    if len(blocks) > 1:
        names = [", ".join(sorted(_shown(block))[:3]) for block in blocks]
        yield Finding(
            Kind.UNJOINED,
            "nothing joins " + " and ".join(names[:3]) + ": each solution of one meets all of the"
            " other",
            term=names[1],
            certainty=_COMPARED if _is_meant(blocks, asked) else _PRODUCT,
        )
    around = [_bound(group), *outside]
    for element in group.elements:
        inner = [element.group] if isinstance(element, Nested) else []
        inner += list(element.groups) if isinstance(element, Union) else []
        for one in inner:
            yield from _products(one, around, asked)


def _is_meant(blocks: Sequence[set[str]], asked: set[str] | None) -> bool:
    """Whether things that are named are put beside others, and something of each is asked for."""
    free = sum(not _is_named(block) for block in blocks)
    return free < len(blocks) and all(asked is None or block & asked for block in blocks)


def _is_named(block: set[str]) -> bool:
    """Whether a block is about things that are named: by subject, by text, or as all there is."""
    variables = [name for name in block if not name.startswith(("<", _NAMED))]
    return _NAMED in block or (len(variables) == 1 and len(block) > 1)


def _named(element: Element) -> Iterator[str]:
    """The things that a pattern names: what is said of one thing belongs together."""
    match element:
        case Pattern() if element.predicate != NamedNode(RDF_TYPE):
            ends = (element.subject, element.object)
            yield from (str(term) for term in ends if isinstance(term, NamedNode))
            if isinstance(element.subject, NamedNode) or _is_text(element.object):
                yield _NAMED
        case Values():
            yield _NAMED


def _is_text(term: Term) -> bool:
    return isinstance(term, Literal) and term.datatype.value in (XSD_STRING, RDF_LANG_STRING)


def _multiplies(element: Element) -> bool:
    """Whether an element may give several rows of its own."""
    match element:
        case Filter() | Bind() | Nested(word="MINUS" | "OPTIONAL"):
            return False
        case Query() as query:
            single = query.is_aggregate and not query.group_by
            return not single and query.limit != 1
        case Values(rows=rows):
            return len(rows) > 1
        case _:
            return True


def _blocks(parts: Sequence[set[str]], links: Sequence[set[str]]) -> list[set[str]]:
    """Put together what shares a variable; a link joins the parts that it touches."""
    blocks: list[set[str]] = []
    for names in parts:
        touching = [block for block in blocks if block & names - {_NAMED}]
        blocks = [block for block in blocks if not block & names - {_NAMED}]
        blocks.append(set().union(names, *touching))
    for names in links:
        touching = [block for block in blocks if block & names]
        if len(touching) > 1:
            blocks = [block for block in blocks if not block & names]
            blocks.append(set().union(*touching))
    return blocks


def _shown(block: set[str]) -> set[str]:
    """Its variables as they are written, those of blank nodes only if there are no others."""
    names = {f"?{name}" for name in block if not name.startswith(("<", _NAMED))}
    return {name for name in names if not name.startswith("?__")} or names
