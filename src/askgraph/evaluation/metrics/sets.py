"""Metrics over sets and lists of values: pure functions of a predicted and a gold table."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice

from askgraph.evaluation import ResultTable, Score, align_numbers, score_sets
from askgraph.sparql.comparison import Cell
from askgraph.sparql.results import to_plain_value


def flattened(predicted: ResultTable, gold: ResultTable) -> Score:
    """Set precision, recall and F1 over all values of all columns together.

    Punishes wrong and missing values in any column that answers, and so extra ones too: a column
    of labels beside the right IRIs costs precision. Does not punish columns that an answer marks
    as context, values in the wrong column or row, a wrong order or wrong duplicates.

    The form of the official TEXT2SPARQL measure (2025), with values compared as in `rows` instead
    of as strings, and without its quirk that a correct `false` or a correct empty result scores 0.

    Compare the two sets of all bound values; both empty is 1.
    """
    predicted, gold = align_numbers(predicted, gold)
    return score_sets(predicted.get_answer_values(), gold.get_values())


def dfsl(predicted: ResultTable, gold: ResultTable) -> Score:
    """Set precision, recall and F1 of the answers; two empty answers agree.

    Punishes wrong and missing values in any column, and so extra columns.

    Does not punish a right empty result, which is 1 here and 0 for `text2sparql` and
    `best_column_multiset`; values in the wrong column or row; a wrong order; wrong duplicates.

    The measure of D'Abramo, "Dynamic Few-Shot Learning for Knowledge Graph Question Answering"
    (thesis, 2024; arXiv 2407.01409), section 5.4.4. It does not say what one result of several
    columns is; here it is each value. By this definition it is the same as `flattened`, and has a
    name of its own so that a report can cite the figures beside it.

    Compare the two sets of all bound values; both empty is 1, one empty is 0.
    """
    predicted, gold = align_numbers(predicted, gold)
    return score_sets(predicted.get_values(), gold.get_values())


def text2sparql(predicted: ResultTable, gold: ResultTable) -> Score:
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
    predicted_values = (
        {"true"} if predicted.boolean is not None else _get_strings(predicted, raw=raw)
    )
    gold_values = set() if gold.boolean is False else _get_strings(gold, raw=raw)
    common = len(predicted_values & gold_values)
    if not common:
        return Score.from_value(0.0)
    precision, recall = common / len(predicted_values), common / len(gold_values)
    return Score(precision, recall, 2 * precision * recall / (precision + recall))


def _get_strings(table: ResultTable, *, raw: bool) -> set[str]:
    if raw and table.boolean is None:
        return {
            text
            for row in table.terms
            for term in row
            if (text := to_plain_value(term)) is not None
        }
    return {str(value) for _, value in table.get_values()}


def best_column(predicted: ResultTable, gold: ResultTable) -> Score:
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
    predicted, gold = align_numbers(predicted, gold)
    columns = predicted.get_column_values() or (frozenset(),)
    return Score.compute_mean(
        [
            _choose_best([score_sets(column, gold_column) for column in columns])
            for gold_column in gold.get_column_values() or (frozenset(),)
        ]
    )


def best_column_multiset(predicted: ResultTable, gold: ResultTable) -> Score:
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
    predicted, gold = align_numbers(predicted, gold)
    columns, gold_columns = (
        [[row[index] for row in table.rows] for index in range(len(table.variables))]
        for table in (predicted, gold)
    )
    if not (columns and gold_columns and predicted.rows and gold.rows):
        return Score.from_value(0.0)
    return Score.compute_mean(
        [
            _choose_best([_score_multisets(column, gold_column) for column in columns])
            for gold_column in gold_columns
        ]
    )


def _score_multisets(predicted: Sequence[Cell | None], gold: Sequence[Cell | None]) -> Score:
    common = Counter(predicted) & Counter(gold)
    correct = common.total() - common[None]
    return Score(
        correct / len(predicted), correct / len(gold), 2 * correct / (len(predicted) + len(gold))
    )


def _choose_best(scores: Sequence[Score]) -> Score:
    return max(scores, key=lambda score: (score.f1, score.precision))


def accuracy_at_1(predicted: ResultTable, gold: ResultTable) -> Score:
    """Acc@1: 1 if every gold value is in the answer of the first query, else 0.

    Punishes a missing or wrong gold value, one of many as much as all.

    Does not punish extra values, and so not extra columns; values in the wrong column or row; a
    wrong order; wrong duplicates.

    The measure of Alekseev et al., "The benefits of query-based KGQA systems for complex and
    temporal questions in LLM era" (NLDB 2025), section 3: the intersection of the two sets equals
    gold. "At 1" stands for the first query that was generated, not for the first value, which is
    `hits_at_1`; the two are the same only if answer and gold have one value each.

    If gold is empty, as in none of the paper's questions, only an empty answer is right. All three
    numbers of the score are equal.
    """
    predicted, gold = align_numbers(predicted, gold)
    predicted_values, gold_values = predicted.get_values(), gold.get_values()
    return Score.from_value(
        float(gold_values <= predicted_values if gold_values else not predicted_values)
    )


def hits_at_1(predicted: ResultTable, gold: ResultTable) -> Score:
    """Hits@1: 1 if the first value of the answer is a gold value, else 0.

    Punishes a wrong first value, and so a column of labels before the right one.

    Does not punish anything after the first value, nor missing gold values. Without ORDER BY the
    endpoint determines the first row, and with it the score.

    The usual measure for systems that rank entities; older ones report it for WebQSP and CWQ
    instead of F1: see the figures in brackets in Walter and Bast, "GRASP" (arXiv 2507.08107),
    table 4.

    The first value is the first bound one, row by row. Both without values is 1, one of them
    without is 0. All three numbers of the score are equal.
    """
    predicted, gold = align_numbers(predicted, gold)
    first = next((cell for cell in chain(*predicted.rows) if cell is not None), None)
    gold_values = gold.get_values()
    return Score.from_value(float(first in gold_values if first is not None else not gold_values))


MAX_ASSIGNMENTS = 1000  # tried at most; more are possible only with many columns of equal values


def exact_match(predicted: ResultTable, gold: ResultTable) -> Score:
    """1 if some choice of the predicted columns gives exactly the gold rows, else 0.

    Punishes every wrong, missing or wrongly paired value. Does not punish extra columns, the names
    and order of columns, the order of rows, or duplicates.

    Compare rows as sets under every assignment of gold columns to predicted columns.

    Both without rows is 1, whatever the columns.
    """
    predicted, gold = align_numbers(predicted, gold)
    if not predicted.rows or not gold.rows:
        return Score.from_value(float(not predicted.rows and not gold.rows))
    gold_rows, predicted_columns = frozenset(gold.rows), predicted.get_column_values()
    candidates = [
        [index for index, item in enumerate(predicted_columns) if item == column]
        for column in gold.get_column_values()
    ]
    matches = (
        frozenset(tuple(row[index] for index in columns) for row in predicted.rows) == gold_rows
        for columns in islice(_iterate_assignments(candidates), MAX_ASSIGNMENTS)
    )
    return Score.from_value(float(any(matches)))


def _iterate_assignments(
    candidates: Sequence[Sequence[int]], prefix: tuple[int, ...] = ()
) -> Iterator[tuple[int, ...]]:
    """Yield distinct predicted columns, one candidate for each gold column."""
    if len(prefix) == len(candidates):
        yield prefix
        return
    for index in candidates[len(prefix)]:
        if index not in prefix:
            yield from _iterate_assignments(candidates, (*prefix, index))
