"""Metrics over sets and lists of values: pure functions of a predicted and a gold table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from askgraph.evaluation import Score, Table, aligned, set_score
from askgraph.sparql.comparison import Cell
from askgraph.sparql.results import value_of


def flattened(predicted: Table, gold: Table) -> Score:
    """Set precision, recall and F1 over all values of all columns together.

    Punishes wrong and missing values in any column that answers, and so extra ones too: a column of
    labels beside the wanted IRIs costs precision. Does not punish columns that an answer calls
    context, values in the wrong column or row, a wrong order or wrong duplicates.

    The form of the official TEXT2SPARQL measure (2025), with values compared as in `values` instead
    of as strings, and without its quirk that a correct `false` or a correct empty result scores 0.

    Compare the two sets of all bound values; both empty is 1.
    """
    predicted, gold = aligned(predicted, gold)
    return set_score(predicted.answers(), gold.values())


def dfsl(predicted: Table, gold: Table) -> Score:
    """Set precision, recall and F1 of the answers; two empty answers agree.

    Punishes wrong and missing values in any column, and so extra columns.

    Does not punish a right empty result, which is 1 here and 0 for `text2sparql` and
    `best_column_multiset`; values in the wrong column or row; a wrong order; wrong duplicates.

    The measure of D'Abramo, "Dynamic Few-Shot Learning for Knowledge Graph Question Answering"
    (thesis, 2024; arXiv 2407.01409), section 5.4.4. It does not say what one result of several
    columns is; here it is each value. By this definition it is the same as `flattened`, and has a
    name of its own so that a report can say whose figures it stands beside.

    Compare the two sets of all bound values; both empty is 1, one empty is 0.
    """
    predicted, gold = aligned(predicted, gold)
    return set_score(predicted.values(), gold.values())


def text2sparql(predicted: Table, gold: Table) -> Score:
    """The official set precision, recall and F1 of the TEXT2SPARQL challenge 2025.

    Punishes wrong and missing values in any column, and so extra columns; the same value in other
    characters, as 1 and 1.0; a right "no" and a right empty result, which score 0 as wrong ones do.

    Does not punish another datatype or language tag, values in the wrong column or row, a wrong
    order or wrong duplicates; nor a wrong "no": the answer of any ASK query counts as the value
    "true", so that "no" scores 1 if gold is "yes".

    Use it to stand beside the figures of the challenge. `flattened` is the same without its quirks.

    Compare the two sets of values as plain strings, all columns together.

    The string of an RDF term is its IRI, literal text or blank node; if either table came
    without terms, both are compared by value. Nothing predicted or nothing in gold is 0, both too.
    """
    raw = all(
        table.terms or not table.rows or table.boolean is not None for table in (predicted, gold)
    )
    found = {"true"} if predicted.boolean is not None else _strings(predicted, raw=raw)
    wanted = set() if gold.boolean is False else _strings(gold, raw=raw)
    common = len(found & wanted)
    if not common:
        return Score.of(0.0)
    precision, recall = common / len(found), common / len(wanted)
    return Score(precision, recall, 2 * precision * recall / (precision + recall))


def _strings(table: Table, *, raw: bool) -> set[str]:
    if raw and table.boolean is None:
        return {text for row in table.terms for term in row if (text := value_of(term)) is not None}
    return {str(value) for _, value in table.values()}


def best_column(predicted: Table, gold: Table) -> Score:
    """Set precision, recall and F1 of the best single column.

    Punishes wrong and missing values. Does not punish extra columns, a wrong order, wrong
    duplicates, or, if gold has several columns, values paired in the wrong rows.

    The measure of Henselmann et al., "Knowledge graph representations for KGQA" (2025), over sets
    instead of multisets.

    Score each gold column against the predicted column that fits it best, by F1; take the mean.

    With one gold column, the usual case, this is the set F1 of the best predicted column. One
    predicted column may serve several gold columns. Both without rows is 1. With several gold
    columns all three numbers are means, so that F1 is not the harmonic mean of the other two.
    """
    predicted, gold = aligned(predicted, gold)
    columns = predicted.columns() or (frozenset(),)
    return Score.mean(
        [
            _best([set_score(column, wanted) for column in columns])
            for wanted in gold.columns() or (frozenset(),)
        ]
    )


def best_column_multiset(predicted: Table, gold: Table) -> Score:
    """Precision, recall and F1 of the best single column, as multisets.

    Punishes wrong and missing values, and wrong duplicates: a row too many costs precision, a
    repeated gold row that is found once costs recall. Also punishes a right empty result, which
    scores 0.

    Does not punish extra columns, unless they multiply rows; a wrong order; or, if gold has several
    columns, values paired in the wrong rows.

    The measure of Henselmann et al., "Impact of Knowledge Graph Representations on Question
    Answering with Language Models" (2025), section 5.5, as its published scores have it; there each
    gold query has one column and is run without DISTINCT, and no query, an error and no rows score
    0. `best_column` is the same over sets.

    Score each gold column against the predicted column that fits it best, by F1; take the mean.

    Precision is over the predicted rows, recall over the gold rows; an unbound value counts as a
    row, and never as right. One predicted column may serve several gold columns. No rows on either
    side, or on both, is 0.
    """
    predicted, gold = aligned(predicted, gold)
    columns, wanted = (
        [[row[at] for row in table.rows] for at in range(len(table.variables))]
        for table in (predicted, gold)
    )
    if not (columns and wanted and predicted.rows and gold.rows):
        return Score.of(0.0)
    return Score.mean([_best([_multiset_score(c, one) for c in columns]) for one in wanted])


def _multiset_score(predicted: Sequence[Cell | None], gold: Sequence[Cell | None]) -> Score:
    common = Counter(predicted) & Counter(gold)
    right = common.total() - common[None]
    return Score(
        right / len(predicted), right / len(gold), 2 * right / (len(predicted) + len(gold))
    )


def _best(scores: Sequence[Score]) -> Score:
    return max(scores, key=lambda score: (score.f1, score.precision))


def accuracy_at_1(predicted: Table, gold: Table) -> Score:
    """Acc@1: 1 if every gold value is in the answer of the first query, else 0.

    Punishes a missing or wrong gold value, one of many as much as all.

    Does not punish values too many, and so not extra columns; values in the wrong column or row; a
    wrong order; wrong duplicates.

    The measure of Alekseev et al., "The benefits of query-based KGQA systems for complex and
    temporal questions in LLM era" (NLDB 2025), section 3: the intersection of the two sets equals
    gold. "At 1" stands for the first query that was generated, not for the first value, which is
    `hits_at_1`; the two are the same only if answer and gold have one value each.

    Say, three times alike, whether gold's values are a subset of the predicted ones.

    If gold is empty, as in none of the paper's questions, only an empty answer is right.
    """
    predicted, gold = aligned(predicted, gold)
    found, wanted = predicted.values(), gold.values()
    return Score.of(float(wanted <= found if wanted else not found))


def hits_at_1(predicted: Table, gold: Table) -> Score:
    """Hits@1: 1 if the first value of the answer is one of gold's, else 0.

    Punishes a wrong first value, and so a column of labels that stands before the wanted one.

    Does not punish anything after the first value, nor that most of gold is missing. Of a query
    without ORDER BY the first row is up to the endpoint, and the score with it.

    The usual measure for systems that rank entities, and by older ones for WebQSP and CWQ reported
    instead of F1: see the figures in brackets in Walter and Bast, "GRASP" (arXiv 2507.08107), table
    4.

    Say, three times alike, whether the first bound value, row by row, is a value of gold.

    Both without values is 1, one of them without is 0.
    """
    predicted, gold = aligned(predicted, gold)
    first = next((cell for cell in chain(*predicted.rows) if cell is not None), None)
    wanted = gold.values()
    return Score.of(float(first in wanted if first is not None else not wanted))


ASSIGNMENTS = 1000  # tried at most; more are possible only with many columns of equal values


def exact_match(predicted: Table, gold: Table) -> Score:
    """1 if some choice of the predicted columns gives exactly the gold rows, else 0.

    Punishes every wrong, missing or wrongly paired value. Does not punish extra columns, the names
    and order of columns, the order of rows, or duplicates.

    Compare rows as sets under every assignment of gold columns to predicted columns.

    Both without rows is 1, whatever the columns.
    """
    predicted, gold = aligned(predicted, gold)
    if not predicted.rows or not gold.rows:
        return Score.of(float(not predicted.rows and not gold.rows))
    wanted, have = frozenset(gold.rows), predicted.columns()
    fitting = [[at for at, c in enumerate(have) if c == column] for column in gold.columns()]
    matches = (
        frozenset(tuple(row[at] for at in columns) for row in predicted.rows) == wanted
        for columns in islice(_assignments(fitting), ASSIGNMENTS)
    )
    return Score.of(float(any(matches)))


def _assignments(
    fitting: Sequence[Sequence[int]], chosen: tuple[int, ...] = ()
) -> Iterator[tuple[int, ...]]:
    """Yield distinct predicted columns, one of those that fit each gold column."""
    if len(chosen) == len(fitting):
        yield chosen
        return
    for at in fitting[len(chosen)]:
        if at not in chosen:
            yield from _assignments(fitting, (*chosen, at))
