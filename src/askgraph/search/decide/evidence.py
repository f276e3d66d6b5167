"""The evidence for and against the best candidate: the same kinds of it on every graph.

All comes from the words, the candidates and their answer sets; nothing is run. What each piece
says is in docs/how-it-works.md. Words that a candidate leaves out are shown beside its answer, too.
"""

import math
from collections.abc import Iterable, Iterator, Sequence

from pyoxigraph import NamedNode

from askgraph.graph.literals import split_literal
from askgraph.index import stem, tokens
from askgraph.search import (
    Value,
    aggregates_of,
    groups_of,
    keys_of,
    predicate_of,
    variable_of,
)
from askgraph.search.linking import Reading, bits
from askgraph.search.linking.link import Link
from askgraph.search.linking.operators import Operator
from askgraph.search.operators.query_builder import Candidate
from askgraph.search.rank import Cluster
from askgraph.search.rank.faults import Subject, faults_of
from askgraph.search.rank.score import Proposal, links_of
from askgraph.sparql import Call, Query
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.vocabulary import RDF_TYPE

_CLOSE = 0.2
"""A rival whose score is so near is one."""
_ALONE = 0.5
"""The margin of a result that has no rival: being alone proves little."""
_NOUNS_HAVE_CAPITALS = frozenset(["de"])
_AS_GOOD = 0.05
"""A link may be so much worse and still be as good a reading of its words."""
_CLEAN = (
    ("faults", 0.0),
    ("left_out", 0.0),
    ("unsaid", 0.05),
    ("unsaid_columns", 0.3),
    ("unsaid_conditions", 0.3),
    ("inexact", 0.15),
    *((name, 0.0) for name in ("misfit", "unheld", "unnamed", "disagrees", "ungrouped")),
    ("head_missed", 0.0),
    ("required", 0.0),
    ("rivals", 1.0),
)
"""What an answer beyond doubt has no more of: each that it has more of is a blemish."""
_MEANT = 0.75
"""A word that fits so well what a link leads to, which the query names, is not left out."""
_SILENT = frozenset("exists and both distinct now past during ongoing lasted at".split())
"""Operators whose words may say what the pattern says anyhow, or nothing."""
_NUMBERED = frozenset("more_than less_than between".split())
"""Operators whose words are mere prepositions if no number or date follows."""
_FORM, _ENDING = 3, 2
"""Letters that two forms of a word share at least, and how many one has more at its end."""
_PART = 5
"""Letters that a word has at least by which a compound ends."""
_EACH, _TOTAL = ("each", "yearly"), ("count", "sum")
_BESIDE = 2
"""So many words after "how many" may name the number that it asks for."""


def evidence_for(proposal: Proposal, found: Sequence[Cluster]) -> dict[str, float]:
    """Return the evidence on the best of some clusters; the names are `EVIDENCE`."""
    best = found[0].best
    subject = Subject(proposal, best)
    evidence = {
        "score": best.score,
        **_rivals(found),
        "faults": float(len(faults_of(subject))),
        **_words_left(subject),
        **_readings(subject),
        **_doubts(subject),
        **_loose(subject),
        **_shape(subject),
    }
    told = {**best.features, **evidence}
    return {**evidence, "blemishes": float(sum(told[name] > most for name, most in _CLEAN))}


def _rivals(found: Sequence[Cluster]) -> dict[str, float]:
    """How near other results come, and whether those that do show something else."""
    first, *others = found
    near = [one for one in others if one.score > first.score - _CLOSE]
    return {
        "margin": min(1.0, first.score - others[0].score) if others else _ALONE,
        "rivals": math.log1p(len(near)),
        "disputed": float(any(one.best.shown != first.best.shown for one in near)),
    }


def _words_left(subject: Subject) -> dict[str, float]:
    """What the query takes of the question's words, and what it leaves."""
    proposal, best = subject.proposal, subject.candidate
    reading, weights = proposal.reading, proposal.linked.weights
    light = frozenset(_light(reading))
    content = [at for at, weight in enumerate(weights) if weight and at not in light]
    unused = [at for at in content if not best.used >> at & 1]
    linked = {at for link in proposal.linked.links for at in link.positions}
    nouns = reading.language in _NOUNS_HAVE_CAPITALS
    names = [
        at
        for at in unused
        if at > 0 and reading.tokens[at].capital and not (nouns and at in linked)
    ]
    all_told = sum(weights[at] for at in content) or 1.0
    return {
        "covered": 1.0 - sum(weights[at] for at in unused) / all_told,
        "unused": float(len(unused)),
        "unused_names": float(len(names)),
        "unheard": float(len(list(unserved(proposal, best)))),
        "left_out": float(len(left_out(proposal, best))),
    }


def _readings(subject: Subject) -> dict[str, float]:
    """How well, and how uniquely, words name what the query takes them for."""
    weights, every = subject.linked.weights, subject.linked.links
    used = list(links_of(subject.candidate))
    inexact = beaten = several = total = 0.0
    for link in used:
        weight = sum(weights[at] for at in link.positions)
        over = [one for one in every if one.mask & link.mask and one.target != link.target]
        better = [one for one in over if _fit(one) > _fit(link) + _AS_GOOD]
        alike = [one for one in over if abs(_fit(one) - _fit(link)) <= _AS_GOOD]
        inexact += weight * (1.0 - link.score * link.quality)
        beaten += weight * bool(better)
        several += weight * math.log1p(sum(one.positions == link.positions for one in alike))
        total += weight
    total = total or 1.0
    return {"inexact": inexact / total, "beaten": beaten / total, "ambiguous": several / total}


def _fit(link: Link) -> float:
    """How well a link fits, the longer the better."""
    return link.score * link.quality * len(link.positions)


def _doubts(subject: Subject) -> dict[str, float]:
    """How loosely the query hangs together with the words that it takes."""
    best = subject.candidate
    links = [part.link for part in best.state.node.walk() if part.link is not None]
    return {
        "weakest": 1.0 - min((link.score * link.quality for link in links), default=1.0),
        "required": float(best.notes.count("required")),
        "unsaid_order": _unsaid_order(subject),
        "unsaid": best.unknown,
        "unsaid_columns": sum(1.0 - _named(subject, one) for one in _beside_root(subject)),
        "unsaid_conditions": sum(
            1.0 - subject.named(variable)
            for variable in {one.variable for one in subject.conditions}
        ),
        "spread": best.state.spread,
        "head_missed": 1.0 - min(1.0, best.features["head"]),
        "unheld": best.features["unheld"],
    }


def _named(subject: Subject, value: Value) -> float:
    """How well words name what a column holds, by the step that leads there or by its class."""
    classes = [
        one.object.value
        for one in subject.patterns
        if one.subject == variable_of(value)
        and predicate_of(one) == RDF_TYPE
        and isinstance(one.object, NamedNode)
    ]
    return max([subject.named(value), *(subject.said.get(iri, 0.0) for iri in classes)])


def _beside_root(subject: Subject) -> list[Value]:
    """What is shown of the root or of what leads to it, aggregates of the root left out."""
    return [one for one in subject.shown if variable_of(one) != subject.candidate.root]


def _unsaid_order(subject: Subject) -> float:
    """How loosely words name what the rows are first ordered by."""
    keys = [key for key, _ in keys_of(subject.tree)[:1]] or subject.extremes[:1]
    into = [predicate_of(one) for one in subject.patterns if one.object in keys]
    return 1.0 - max(subject.said.get(iri, 0.0) for iri in into) if into else 0.0


def _loose(subject: Subject) -> dict[str, float]:
    """Groups that no word asks for, and columns of more things than one."""
    variables = [variable_of(one) for one in subject.shown]
    owners = {one.subject for one in subject.patterns if one.object in variables}
    return {
        "groups": float(_groups_unasked(subject)),
        "scattered": float(max(0, len(owners) - 1)),
    }


def _groups_unasked(subject: Subject) -> bool:
    """Whether rows are grouped, neither "for each" nor to count for a limit or an order."""
    query = subject.tree
    counted = query.having or any(isinstance(key, Call) for key, _ in keys_of(query))
    return bool(query.group_by) and not counted and not subject.expected.grouped


def _shape(subject: Subject) -> dict[str, float]:
    """How much a query says: the more there is to it, the more can be wrong."""
    query = subject.tree
    return {
        "long": math.log1p(sum(1 for weight in subject.linked.weights if weight)),
        "patterns": float(subject.candidate.patterns),
        "compares": float(len(subject.conditions)),
        "aggregates": float(len(list(aggregates_of(query)))),
        "grouped": float(bool(groups_of(query))),
        "ranked": float(query.limit is not None or bool(subject.extremes)),
        "columns": float(max(0, len(subject.shown) - 1)),
    }


def left_out(proposal: Proposal, candidate: Candidate, *, read: bool = False) -> tuple[str, ...]:
    """Return the words that tell something and that a candidate does not stand for, in order.

    An operator that it does not serve is one of these, as a phrase ("more than", "not"). A word
    counts as said if it is linked to something that the query names; for one who will `read` the
    query also if a name in it is a form of the word ("buses" and `SchoolBus`), or if groups and
    their aggregates say it ("different", "for each", "in total").
    """
    reading, weights = proposal.reading, proposal.linked.weights
    phrases = {one.first: one for one in unserved(proposal, candidate)}
    meant = _meant(Subject(proposal, candidate)) | set(_light(reading))
    if read:
        meant |= _read_in(reading, Subject(proposal, candidate).terms)
        done = [one for one in phrases.values() if one.name in _done_by(candidate.tree)]
        meant |= {at for one in done for at in (one.first, *one.positions)}
        meant |= _said(reading, "distinct") if groups_of(candidate.tree) else set()
        phrases = {at: one for at, one in phrases.items() if at not in meant}
    inside = {at for one in phrases.values() for at in one.positions}
    if candidate.tree.distinct:
        meant |= _said(reading, "distinct")
    found: list[str] = []
    for at, token in enumerate(reading.tokens):
        if at in phrases:
            last = reading.tokens[phrases[at].last]
            found.append(" ".join(reading.text[token.start : last.end].split()))
        elif weights[at] and at not in inside | meant:
            found += [] if candidate.used >> at & 1 else [token.text]
    return tuple(dict.fromkeys(found))


def _read_in(reading: Reading, terms: Iterable[str]) -> set[int]:
    """The tokens that are a form of a word in the name of something: singular, plural, a part."""
    names = {stem(word) for term in terms for word in tokens(_name_in(term))}
    return {at for at, one in enumerate(reading.tokens) if any(_form(one.stem, n) for n in names)}


def _name_in(term: str) -> str:
    """The words of an IRI's local name, or the text of a literal."""
    return split_literal(term)[0] if term[0] == '"' else words_of_local_name(term.strip("<>"))


def _form(word: str, name: str) -> bool:
    short, long = sorted((word, name), key=len)
    whole = len(short) >= _FORM and long.startswith(short) and len(long) <= len(short) + _ENDING
    return short == long or whole or (len(short) >= _PART and long.endswith(short))


def _done_by(query: Query) -> frozenset[str]:
    """The operators that groups, their aggregates or several columns serve as they are."""
    each = bool(groups_of(query)) or len(query.columns) > 1
    return frozenset((*_EACH * each, *_TOTAL * any(aggregates_of(query))))


def unserved(proposal: Proposal, candidate: Candidate) -> Iterator[Operator]:
    """Yield the operators that a candidate ought to serve, and none of whose words it uses."""
    frame = proposal.frame
    for one in frame.operators:
        number = frame.quantity_after(one)
        missed = number is not None and not candidate.used >> number.first & 1
        compares = one.name not in _NUMBERED or missed
        after = bits(range(one.last + 1, one.last + 1 + _BESIDE))
        if one.name == "count" and candidate.shown_words & after:
            continue  # "how many minutes": the number that is shown
        if one.name not in _SILENT and compares and not one.mask & candidate.used:
            yield one


def _meant(subject: Subject) -> set[int]:
    """The tokens that are linked to something which the query names."""
    return {
        at
        for link in subject.linked.links
        for at, quality in zip(link.positions, link.qualities, strict=True)
        if quality >= _MEANT and subject.names(link)
    }


def _light(reading: Reading) -> Iterator[int]:
    """The tokens that say nothing of their own: "happened", "took place"."""
    said = set(reading.folded)
    for phrase in reading.words.light:
        for at in range(len(reading.tokens)) if phrase[0] in said else ():
            if reading.says(phrase, at):
                yield from range(at, at + len(phrase))


def _said(reading: Reading, operator: str) -> set[int]:
    words = {phrase[0] for phrase in reading.words.operators[operator] if len(phrase) == 1}
    return {at for at, word in enumerate(reading.folded) if word in words}
