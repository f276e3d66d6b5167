"""Several queries for one question: which is believed most, and whose result is the answer.

First set and largest set are D'Abramo's (arXiv 2407.01409, section 4.4.1); the vote over equal
results is ours.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from askgraph.errors import SetupError
from askgraph.llm import Choice
from askgraph.sparql.comparison import alike
from askgraph.sparql.results import SelectResult
from askgraph.sparql.rewrite.canonical import canonical_query

CHOICES = ("first", "largest", "vote")

_TAGGED = re.compile(r"<sparql>(.*?)(?:</sparql>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```\w*\s*\n(.*?)```", re.DOTALL)
_QUERY = re.compile(r"\b(?:SELECT|ASK)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Hypothesis:
    """A query with its result; `weight` is what its author believes of it, against the others."""

    query: str
    result: SelectResult | bool
    weight: float = 1.0

    @property
    def size(self) -> int:
        """The number of different rows; a yes or no is one."""
        return 1 if isinstance(self.result, bool) else len(set(self.result.rows))


def queries_in(text: str) -> list[str]:
    """Return the different queries in a reply: between tags, else in a fence, else all of it."""
    found = _TAGGED.findall(text) or _FENCED.findall(text) or [text]
    queries = dict.fromkeys(query.strip() for query in found)
    return [query for query in queries if _QUERY.search(query)]


def by_belief(choices: Sequence[Choice]) -> list[Choice]:
    """Return replies in the order of their log-probability, by the token: the likeliest first.

    The mean over the tokens is what a beam search ranks by, and does not favour a short reply. A
    reply that does not tell its own cannot be ranked, and then all stay in the order given.
    """
    if not all(choice.logprobs for choice in choices):
        return list(choices)
    return sorted(choices, key=lambda c: -fmean(token.logprob for token in c.logprobs))


def weighed(
    choices: Sequence[Choice], *, prefixes: Mapping[str, str] | None = None
) -> dict[str, float]:
    """Return the queries of several replies, in their order, with how many wrote each.

    Queries that differ in names, layout and order alone (`canonical_query`) are one, as it was
    written first. If no reply tells its log-probability, what more of them wrote comes first.
    """
    first: dict[str, str] = {}
    found: dict[str, float] = defaultdict(float)
    for choice in choices:
        for query in queries_in(choice.text):
            found[first.setdefault(canonical_query(query, prefixes=prefixes), query)] += 1.0
    if any(choice.logprobs for choice in choices):
        return dict(found)
    return dict(sorted(found.items(), key=lambda one: -one[1]))


def chosen(hypotheses: Sequence[Hypothesis], by: str) -> tuple[Hypothesis, float] | None:
    """Return one hypothesis of several, in the order of their author, and the share that agrees.

    `first`: the first with a result. `largest`: the one with most rows, the first of equals.
    `vote`: the first of those whose results weigh most together, equal ones (`sparql.alike`) as
    one. Empty results are chosen only if there is nothing else. None if there is no
    hypothesis. Raises `SetupError` for another way of choosing.
    """
    if by not in CHOICES:
        raise SetupError(f"hypotheses are chosen by {', '.join(CHOICES)}, not by {by!r}")
    listed = [one for one in hypotheses if one.size] or list(hypotheses)
    if not listed:
        return None
    numbers = alike([one.result for one in listed])
    votes: dict[int, float] = defaultdict(float)
    for number, one in zip(numbers, listed, strict=True):
        votes[number] += one.weight
    best = 0
    if by == "largest":
        best = max(range(len(listed)), key=lambda at: listed[at].size)
    elif by == "vote":
        best = max(range(len(listed)), key=lambda at: votes[numbers[at]])
    total = sum(one.weight for one in hypotheses)
    return listed[best], votes[numbers[best]] / total if total else 0.0
