"""A literal in the form in which a predicate gives it: of its datatype, with its language."""

from collections.abc import Iterator

from pyoxigraph import Literal, NamedNode

from askgraph.rdf import vocabulary as v
from askgraph.rdf.labels import language_chain

__all__ = ["comparable", "fitting"]

_TEXTS = frozenset({v.RDF_LANG_STRING, v.XSD_STRING})
_TIMES = v.DATE_DATATYPES | {v.XSD_TIME, v.XSD_DURATION, v.XSD_G_MONTH, v.XSD_G_DAY}


def fitting(
    literal: Literal, datatypes: frozenset[str], languages: frozenset[str]
) -> tuple[Literal, ...]:
    """Return the literals of the same text that have one of the datatypes, the likeliest first.

    Numbers stay where the text is one; of the languages, English and no other comes first.
    """
    found: list[Literal] = []
    for datatype in sorted(datatypes, key=lambda one: (one not in _TEXTS, one)):
        if datatype == v.RDF_LANG_STRING:
            tag = literal.language or ""
            order = [*language_chain([tag, "en"]), *sorted(languages)]
            tags = [one for one in dict.fromkeys(order) if one in languages]
            found += [Literal(literal.value, language=one) for one in tags[:3]]
        elif datatype == v.XSD_STRING:
            found.append(Literal(literal.value))
        else:
            found += _typed(literal.value, datatype)
    ordered = sorted(found, key=lambda one: _group(one) != _group(literal))
    return tuple(one for one in ordered if one != literal)


def comparable(first: str, second: str) -> bool:
    """Whether values of two datatypes can be compared; unknown datatypes with all."""
    kinds = _kind(first), _kind(second)
    return kinds[0] == kinds[1] or "" in kinds


def _typed(text: str, datatype: str) -> Iterator[Literal]:
    literal = Literal(text, datatype=NamedNode(datatype))
    if datatype in v.NUMERIC_DATATYPES:
        try:
            number = float(text)
        except ValueError:
            return
        if datatype in v.INTEGER_DATATYPES and not number.is_integer():
            return
        whole = datatype in v.INTEGER_DATATYPES and not text.lstrip("+-").isdigit()
        yield Literal(str(int(number)), datatype=NamedNode(datatype)) if whole else literal
    elif datatype == v.XSD_BOOLEAN:
        if text in ("true", "false", "0", "1"):
            yield literal
    else:
        yield literal


def _group(literal: Literal) -> str:
    return _kind(literal.datatype.value)


def _kind(datatype: str) -> str:
    if datatype in v.NUMERIC_DATATYPES:
        return "number"
    if datatype in _TEXTS:
        return "text"
    if datatype in _TIMES:
        return datatype if datatype not in v.DATE_DATATYPES else "date"
    return "boolean" if datatype == v.XSD_BOOLEAN else ""
