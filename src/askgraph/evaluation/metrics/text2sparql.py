"""The official set precision, recall and F1 of the TEXT2SPARQL challenge 2025.

Punishes wrong and missing values in any column, and so extra columns; the same value in other
characters, as 1 and 1.0; a right "no" and a right empty result, which score 0 as wrong ones do.

Does not punish another datatype or language tag, values in the wrong column or row, a wrong order
or wrong duplicates; nor a wrong "no": the answer of any ASK query counts as the value "true", so
that "no" scores 1 if gold is "yes".

Use it to stand beside the figures of the challenge. `flattened` is the same without its quirks.
"""

from askgraph.evaluation import Score, Table
from askgraph.sparql.results import value_of

__all__ = ["text2sparql"]


def text2sparql(predicted: Table, gold: Table) -> Score:
    """Compare the two sets of values as plain strings, all columns together.

    The string of an RDF term is its IRI, literal text or blank node; if either table came
    without terms, both are compared by value. Nothing predicted or nothing in gold is 0, both too.
    """
    raw = _knows_terms(predicted) and _knows_terms(gold)
    found = {"true"} if predicted.boolean is not None else _strings(predicted, raw=raw)
    wanted = set() if gold.boolean is False else _strings(gold, raw=raw)
    common = len(found & wanted)
    if not common:
        return Score.of(0.0)
    precision, recall = common / len(found), common / len(wanted)
    return Score(precision, recall, 2 * precision * recall / (precision + recall))


def _knows_terms(table: Table) -> bool:
    return bool(table.terms) or not table.rows or table.boolean is not None


def _strings(table: Table, *, raw: bool) -> set[str]:
    if raw and table.boolean is None:
        return {text for row in table.terms for term in row if (text := value_of(term)) is not None}
    return {str(value) for _, value in table.values()}
