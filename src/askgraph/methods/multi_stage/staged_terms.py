"""Terms found by each stage before the writer: the things and predicates a query may name.

Linking entities and matching predicates are stages of their own in Alekseev et al. (NLDB 2025,
sections 4.1 and 4.2). Keeping several readings of the same words, and adding the predicates at the
things that no word names, is ours, as is to take what graph search proposes.
"""

import asyncio
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pyoxigraph import NamedNode

from askgraph.errors import SetupError
from askgraph.graph.profile import PredicateProfile
from askgraph.index import Resource
from askgraph.index.linkers import Span
from askgraph.index.names import Kind
from askgraph.llm import LanguageModel, Options, System, User
from askgraph.llm.budget import Account
from askgraph.methods.shared import Conversation
from askgraph.methods.shared.glossary_notes import taught
from askgraph.methods.shared.index_cache import Bm25, ranked_names
from askgraph.methods.tools import Context
from askgraph.methods.tools.rendering import fetch_labels
from askgraph.methods.tools.terms import filter_unknown_iris, find_relations
from askgraph.methods.writing import ListedTerm
from askgraph.methods.writing.graph_search_writer import MAX_CLUSTERS, list_terms_of_queries
from askgraph.search.expand.schema import Schema
from askgraph.search.link import Link, LinkedQuestion
from askgraph.search.pipeline import link_to_graph, load_schema, propose
from askgraph.search.rank import cluster_candidates
from askgraph.search.tokenize import tokenize
from askgraph.sparql.prefixes import words_of_local_name
from askgraph.sparql.serializer import render_query
from askgraph.trace import Findings, Mention, ModelTurn, Prompt

THINGS = (Kind.ENTITY, Kind.CLASS, Kind.VALUE)


@dataclass(frozen=True, eq=False)
class Ground:
    """What all stages stand on: the question linked by its words."""

    context: Context
    linked: LinkedQuestion

    async def schema(self, listed: Iterable[ListedTerm] = ()) -> Schema:
        """Return the schema over the arrays around the links and the listed terms."""
        further = tuple(
            Link(one.kind, one.target, one.label, 1.0, (), ())
            for one in listed
            if not any(link.target == one.target for link in self.linked.links)
        )
        linked = replace(self.linked, links=(*self.linked.links, *further))
        return await load_schema(linked, self.context.graph)

    def positions(self, kind: Kind, target: str) -> tuple[int, ...]:
        """Return the words that are linked to a term best; none if no word is."""
        links = (link for link in self.linked.links if (link.kind, link.target) == (kind, target))
        return next((link.positions for link in links), ())


async def grounded(context: Context) -> Ground:
    """Read and link the question; what words were taught to mean has the names of the graph."""
    asked = context.question
    linked = await link_to_graph(tokenize(asked.text, asked.language), context.graph)
    meant = {iri for one in linked.glossary_words for iri in one.targets}
    labels = await fetch_labels(context, sorted(meant)) if meant else {}
    links = (replace(one, name=labels.get(one.target, one.name)) for one in linked.links)
    return Ground(context, replace(linked, links=tuple(links)))


def linked_terms(ground: Ground, *kinds: Kind, readings: int) -> tuple[ListedTerm, ...]:
    """Return the terms of some kinds that the words are linked to, best first, each once.

    Of links that share words so many `readings` are kept.
    """
    used: dict[int, int] = {}
    found: dict[str, ListedTerm] = {}
    links = ground.linked.get_links(*kinds)
    for link in sorted(links, key=lambda link: (-link.score * link.quality, -len(link.positions))):
        if link.target in found or max(used.get(at, 0) for at in link.positions) >= readings:
            continue
        for at in link.positions:
            used[at] = used.get(at, 0) + 1
        found[link.target] = ListedTerm(
            link.kind, link.target, link.name, positions=link.positions, score=link.score
        )
    return tuple(found.values())


async def given_terms(ground: Ground, *, predicates: bool) -> tuple[ListedTerm, ...]:
    """Return the predicates, or the things, that came with the question.

    Each with the words that the question links to it, if any. Raises `SetupError` if nobody said
    what it is about.
    """
    given = ground.context.question.given
    if given is None:
        raise SetupError(
            "entities or predicates are to be given, but none came with the question; "
            "'linked' finds them"
        )
    classes = {c.iri for c in ground.context.graph.profile.classes}
    relations = await find_relations(ground.context, given)
    found = []
    for iri in given:
        if (iri in relations) is predicates:
            kind = Kind.CLASS if iri in classes else Kind.ENTITY
            kind = Kind.PREDICATE if predicates else kind
            label, positions = words_of_local_name(iri), ground.positions(kind, iri)
            found.append(ListedTerm(kind, iri, label, positions=positions, score=1.0))
    return tuple(found)


async def proposed_terms(ground: Ground) -> tuple[ListedTerm, ...]:
    """Return what the best candidates of graph search name: things, values and predicates."""
    graph = ground.context.graph
    proposal = await propose(ground.context.question, graph)
    found = cluster_candidates(proposal.candidates)[:MAX_CLUSTERS]
    queries = [render_query(one.best.query, graph.prefixes, graph.profile.types) for one in found]
    language, near = proposal.question.language, proposal.schema.graph
    named = await list_terms_of_queries(queries, graph, language, near)
    return tuple(replace(one, positions=ground.positions(one.kind, one.target)) for one in named)


def predicate_listed(profile: PredicateProfile, score: float = 0.0) -> ListedTerm:
    """Return a predicate that no word names, under its own name."""
    label = profile.names[0][0] if profile.names else words_of_local_name(profile.iri)
    return ListedTerm(Kind.PREDICATE, profile.iri, label, score=score)


def findings(ground: Ground, listed: Sequence[ListedTerm]) -> Findings:
    """Return what a stage found as a step; the words are empty of what no word names."""
    tokens = ground.linked.reading.tokens
    return Findings(
        tuple(
            Mention(
                " ".join(tokens[at].text for at in one.positions),
                one.kind.name.lower(),
                one.target,
                one.label,
                round(one.score, 3),
            )
            for one in listed
        )
    )


async def outside_things(ground: Ground, spans: Sequence[Span]) -> tuple[ListedTerm, ...]:
    """Return the things that a linker found in the question, the surest reading of a thing once.

    What is in no triple of the graph, or is no IRI, is left out.
    """
    context = ground.context
    best = _surest(span for span in spans if not span.relation and _is_iri(span.iri))
    unknown = set(await filter_unknown_iris(context, best))
    best = {iri: span for iri, span in best.items() if iri not in unknown}
    labels = await fetch_labels(context, list(best))
    classes = {c.iri for c in context.graph.profile.classes}
    return tuple(
        ListedTerm(
            Kind.CLASS if iri in classes else Kind.ENTITY,
            iri,
            labels.get(iri) or words_of_local_name(iri),
            positions=_positions(ground, span),
            score=span.score,
        )
        for iri, span in best.items()
    )


def outside_predicates(ground: Ground, spans: Sequence[Span]) -> tuple[ListedTerm, ...]:
    """Return the graph's predicates for the relations that a linker found.

    A relation whose IRI is none of them goes by its local name: as linkers name Wikidata's P19, a
    thing, its graph says `wdt:P19`. Of several of that name the most frequent counts.
    """
    known = {one.iri: one for one in ground.context.graph.profile.predicates}
    named: dict[str, str] = {}
    for one in sorted(known.values(), key=lambda one: -one.triples):
        named.setdefault(_last(one.iri), one.iri)
    best = _surest(span for span in spans if span.relation)
    found: dict[str, ListedTerm] = {}
    for iri, span in best.items():
        there = iri if iri in known else named.get(_last(iri))
        if there is not None:
            listed = predicate_listed(known[there], span.score)
            found.setdefault(there, replace(listed, positions=_positions(ground, span)))
    return tuple(found.values())


def _surest(spans: Iterable[Span]) -> dict[str, Span]:
    """The surest span of each IRI, the surest first."""
    best: dict[str, Span] = {}
    for span in sorted(spans, key=lambda span: -span.score):
        best.setdefault(span.iri, span)
    return best


def _last(iri: str) -> str:
    return re.split(r"[/#:]", iri)[-1]


def _is_iri(text: str) -> bool:
    try:
        NamedNode(text)
    except ValueError:
        return False
    return True


def _positions(ground: Ground, span: Span) -> tuple[int, ...]:
    """The tokens that a span holds, whole or in part."""
    tokens = ground.linked.reading.tokens
    return tuple(
        at for at, token in enumerate(tokens) if token.start < span.end and span.start < token.end
    )


_PICKED = 0.9  # how sure a pick counts
_SPARE = 10  # times as many candidates are looked at where some may be left out
_SYNONYMS, _INFO = 3, 160  # of a candidate that are shown; of its description so many characters
_MARKER = re.compile(
    r"^[\s>*_#`-]*PICK(?:ED|S)?\b[\s*_`]*(?:[:=-]|(?=[\d\[]))(.*)$", re.IGNORECASE | re.MULTILINE
)
_NONE = re.compile(r"\bnone\b", re.IGNORECASE)

_ENTITIES = """\
Below are a question and numbered candidates from a knowledge graph: things and kinds of things that
a search for its words found. Decide which of them the question is about, so that a query for its
answer would have to name them.

Take each name in the question and say which candidates it could mean, what their descriptions say,
and which one fits what is asked. Of several that are called alike take only those that fit. Leave
out what merely shares a word, what is broader than what is named, and what would be the answer. A
kind of thing that the question asks for or counts is named, too.

Think in a few sentences, then end with one line: PICK: and the numbers, with commas between them.
Where none fits, the line is PICK: none"""

_PREDICATES = """\
Below are a question and numbered candidates from a knowledge graph: relations and attributes that a
search for its words found. Decide which of them a query for the answer would have to follow.

Say step by step how the answer hangs together with what the question names, and for each step which
candidate expresses it, whatever its direction. Prefer the one that says it directly over one that
only comes near. What is compared, counted, added up or sorted by needs one as well. Leave out what
merely shares a word.

Think in a few sentences, then end with one line: PICK: and the numbers, with commas between them.
Where none fits, the line is PICK: none"""


async def retrieved(
    ground: Ground, key: str, *, limit: int, bm25: Bm25, least: int = 0
) -> tuple[Resource, ...]:
    """Return the candidates for the whole question from the index `key`, best first.

    What fewer than `least` different predicates leave is none: it is not in the index, or of a
    remote graph is asked of ten times as many candidates. Raises `SetupError` if the graph has no
    such index, `ServiceError` as the endpoint does.
    """
    context = ground.context
    graph, text = context.graph, context.question.text
    here = graph.arrays is not None and graph.arrays.complete
    ranked = partial(ranked_names, graph, key, bm25, least=least if here else 0)
    index = await asyncio.to_thread(ranked)
    if here or not least:
        hits = await asyncio.to_thread(index.search, text, limit=limit)
        return tuple(hit.item for hit in hits)
    hits = await asyncio.to_thread(index.search, text, limit=limit * _SPARE)
    listed = " ".join(f"<{hit.item.iri}>" for hit in hits)
    query = (
        f"SELECT ?thing WHERE {{ VALUES ?thing {{ {listed} }} ?thing ?p ?value }} "
        f"GROUP BY ?thing HAVING (COUNT(DISTINCT ?p) >= {least})"
    )
    found = await graph.endpoint.select(query, timeout=context.limits.timeout, limit=len(hits))
    known = {one.value for (one,) in found.rows if isinstance(one, NamedNode)}
    return tuple(hit.item for hit in hits if hit.item.iri in known)[:limit]


def reason_prompt(context: Context, key: str, candidates: Sequence[Resource]) -> Prompt:
    """Return what the model is told: of entities, or of properties."""
    lines = "\n".join(f"{at}. {_line(one)}" for at, one in enumerate(candidates, start=1))
    told = _ENTITIES if key == "entities" else _PREDICATES
    purpose = "pick entities" if key == "entities" else "pick predicates"
    known = taught(context.question, [context.graph])
    asked = "\n\n".join((*known, f"Question: {context.question.text}", f"Candidates\n{lines}"))
    return Prompt(purpose, (System(told), User(asked)))


async def reasoned(model: LanguageModel, account: Account, prompt: Prompt) -> tuple[ModelTurn, ...]:
    """Ask once, with no randomness, and return what the model said with its cost."""
    options = Options(temperature=0.0)
    return await Conversation(model, account, [*prompt.messages], options=options).samples(1)


def numbers_in(text: str, most: int) -> tuple[int, ...]:
    """Return the numbers of the last line that begins with PICK, from 1 to `most`, each once.

    None if there is no such line, or if it says none.
    """
    line = next((found.group(1) for found in reversed(list(_MARKER.finditer(text)))), "none")
    said = [] if _NONE.search(line) else [int(digits) for digits in re.findall(r"\d+", line[:999])]
    return tuple(dict.fromkeys(number for number in said if 1 <= number <= most))


def picked(
    ground: Ground, key: str, candidates: Sequence[Resource], text: str
) -> tuple[ListedTerm, ...]:
    """Return the candidates that the model picked, with the words that are linked to them."""
    classes = {c.iri for c in ground.context.graph.profile.classes}
    found = []
    for number in numbers_in(text, len(candidates)):
        one = candidates[number - 1]
        kind = Kind.CLASS if one.iri in classes else Kind.ENTITY
        kind = kind if key == "entities" else Kind.PREDICATE
        positions = ground.positions(kind, one.iri)
        about = "; ".join(one.infos)
        found.append(ListedTerm(kind, one.iri, one.label, about, positions, _PICKED))
    return tuple(found)


def _line(one: Resource) -> str:
    also = [name for name in one.synonyms if name != one.label][:_SYNONYMS]
    called = f"{one.label} ({', '.join(also)})" if also else one.label
    about = " ".join("; ".join(one.infos).split())
    about = about if len(about) <= _INFO else f"{about[: _INFO - 1]}…"
    return f"{called}: {about}" if about else called
