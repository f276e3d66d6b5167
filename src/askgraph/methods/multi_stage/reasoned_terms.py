"""Retrieve and reason: candidates by BM25, of which a model picks after thinking aloud.

The two steps are those of Alekseev et al. (NLDB 2025, sections 4.1 and 4.2): the 10 or 100 best by
the whole question, over labels, synonyms and descriptions, then a model that reasons first and ends
with a line that can be read. The instruction is ours, numbers stand for IRIs in it, and it knows of
no graph.
"""

import asyncio
import re
from collections.abc import Sequence
from functools import partial

from pyoxigraph import NamedNode

from askgraph.index import Resource
from askgraph.index.names import Kind
from askgraph.llm import LanguageModel, Options, System, User
from askgraph.llm.budget import Account
from askgraph.methods.multi_stage.staged_terms import Ground
from askgraph.methods.shared import Conversation
from askgraph.methods.shared.glossary_notes import taught
from askgraph.methods.shared.index_cache import Bm25, ranked_names
from askgraph.methods.tools import Context
from askgraph.methods.writing import Listed
from askgraph.trace import ModelTurn, Prompt

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
) -> tuple[Listed, ...]:
    """Return the candidates that the model picked, with the words that are linked to them."""
    classes = {c.iri for c in ground.context.graph.profile.classes}
    found = []
    for number in numbers_in(text, len(candidates)):
        one = candidates[number - 1]
        kind = Kind.CLASS if one.iri in classes else Kind.ENTITY
        kind = kind if key == "entities" else Kind.PREDICATE
        positions = ground.positions(kind, one.iri)
        about = "; ".join(one.infos)
        found.append(Listed(kind, one.iri, one.label, about, positions, _PICKED))
    return tuple(found)


def _line(one: Resource) -> str:
    also = [name for name in one.synonyms if name != one.label][:_SYNONYMS]
    called = f"{one.label} ({', '.join(also)})" if also else one.label
    about = " ".join("; ".join(one.infos).split())
    about = about if len(about) <= _INFO else f"{about[: _INFO - 1]}…"
    return f"{called}: {about}" if about else called
