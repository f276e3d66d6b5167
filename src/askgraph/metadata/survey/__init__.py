"""The profile of a big graph, counted by the endpoint that holds it."""

from askgraph.metadata import TRIPLES, Part, Profile
from askgraph.metadata.facts import Facts
from askgraph.metadata.inquiry import Inquiry
from askgraph.metadata.survey.asking import can_count
from askgraph.metadata.survey.classes import ask_classes, ask_descriptions, ask_texts
from askgraph.metadata.survey.partitions import ask_partitions
from askgraph.metadata.survey.predicates import (
    ask_chains,
    ask_ends,
    ask_mirrors,
    ask_predicates,
    fill_ends,
)
from askgraph.metadata.survey.uncounted import ask_uncounted


async def surveyed(inquiry: Inquiry, total: int | None, *, source: str, created: str) -> Profile:
    """Ask for the profile of a graph; what could not be had is said in `cuts`.

    `completeness` says of each part how much of it is known.
    """
    facts = Facts()
    await ask_predicates(inquiry, facts, total)
    if facts.predicates() and not facts.subjects and not await can_count(inquiry):
        await ask_uncounted(inquiry, facts)
    else:
        await ask_classes(inquiry, facts)
        await ask_ends(inquiry, facts)
        await ask_partitions(inquiry, facts)
        fill_ends(facts)
    await ask_descriptions(inquiry, facts)
    await ask_texts(inquiry, facts)
    await ask_chains(inquiry, facts)
    await ask_mirrors(inquiry, facts)
    if inquiry.exhausted:
        facts.cuts.append("the bound of queries or seconds was reached before all was known")
    counted = total if total is not None else sum(facts.triples.values())
    facts.parts[TRIPLES] = Part(TRIPLES, counted, total)
    return facts.profile(total, source=source, created=created)
