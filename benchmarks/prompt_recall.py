"""Which terms of the gold query the first prompt of `guided` shows, and its tokens; no model.

    python benchmarks/prompt_recall.py --set natural --tokenizer smollm2.gguf --misses 20

`all` is the share of questions whose prompt has every term of the gold query, or of one under
another fair reading; then shares of classes, properties, values (entities and texts; an entity with
the text counts), directions (links in a line with their class, or a query) and properties with
names. Numbers and dates are in the question. Without a tokenizer, tokens are estimated.
"""

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from statistics import fmean, median

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from pyoxigraph import Literal, NamedNode
from tools.accuracy_floors import data_folder
from tools.natural_cases import NaturalQuestion, prepare_workspace, read_questions

from _measure import listed_sets, print_table
from askgraph.answers.verbalize import list_query_iris
from askgraph.graph import KnowledgeGraph
from askgraph.llm import estimate_tokens
from askgraph.llm.scripted import ScriptedModel
from askgraph.methods.guided import Guided
from askgraph.sparql import Pattern, walk
from askgraph.sparql.judge import admit_query
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.vocabulary import RDF, RDF_LANG_STRING, XSD_STRING
from askgraph.trace import Prompt, Question
from askgraph.workspace import Workspace

SETS = ("sample", "supply-kgrep", "spider-graphs", "natural")
KINDS = ("classes", "properties", "values", "directions", "naming")
Terms = list[tuple[str, str, bool]]  # kind, term, whether a prompt shows it
LEADING_LINE = re.compile(r"\?|\}|: | has ")  # a query, or a class with its properties


def recall_terms(sparql: str, prompt: str, graph: KnowledgeGraph) -> Terms:
    """Return each term of a query with its kind, and whether a prompt shows it."""
    query = parse_tree(admit_query(sparql, prefixes=graph.prefixes.namespaces).text)
    classes = {item.iri for item in graph.profile.classes}
    predicates, terms = {item.iri: item for item in graph.profile.predicates}, []
    patterns = [part for part in walk(query) if isinstance(part, Pattern)]
    typing = {part.predicate for part in patterns if getattr(part.object, "value", "") in classes}
    for iri in list_query_iris(query):
        is_shown_anyway = iri.startswith((RDF, "http://www.w3.org/2001/XMLSchema#"))
        if not is_shown_anyway and NamedNode(iri) not in typing:  # `a` says what these do
            lines = list(filter(build_pattern(iri, graph).search, prompt.splitlines()))
            item = predicates.get(iri)
            kind = "naming" if item and item.naming else "properties" if item else "values"
            terms.append(("classes" if iri in classes else kind, iri, bool(lines)))
            if item and not item.literal and lines:
                terms.append(("directions", iri, any(map(LEADING_LINE.search, lines))))
    exact = {part.object for part in patterns}
    for term in dict.fromkeys(part for part in walk(query) if isinstance(part, Literal)):
        if term.value and term.datatype.value in (XSD_STRING, RDF_LANG_STRING):
            is_shown = json.dumps(term.value, ensure_ascii=False) in prompt
            is_shown |= term not in exact and term.value.lower() in prompt.lower()
            owners = (build_pattern(iri, graph) for iri in list_owners(graph, term))
            is_shown = is_shown or any(pattern.search(prompt) for pattern in owners)
            terms.append(("values", repr(term.value), is_shown))
    return terms


def list_owners(graph: KnowledgeGraph, term: Literal) -> Iterator[str]:
    """Yield the entities with a text, which a query may use instead."""
    arrays = graph.arrays
    ids = arrays.terms.find_prefix(str(Literal(term.value))) if arrays else range(0)
    nodes = np.array(ids, dtype=np.int32)
    for predicate in arrays.get_predicates(nodes, inverse=True) if arrays else ():
        owners = arrays.step(nodes, predicate, inverse=True).tolist()
        yield from (arrays.terms.get_value(at) for at in owners if arrays.terms.is_iri(at))


def build_pattern(iri: str, graph: KnowledgeGraph) -> re.Pattern[str]:
    """Return a pattern of a term as prompts write it, also with a prefix for one question."""
    short, local = graph.prefixes.shorten(iri), re.escape(re.split(r"[/#]", iri)[-1])
    name = rf"{re.escape(short)}|[\w-]*:{local}" if short[0] == "<" else re.escape(short)
    return re.compile(rf"(?<![\w:#.-])(?:{name})(?![\w\\-]|\.[^\W_])")


async def build_prompts(
    questions: Sequence[NaturalQuestion], graph: KnowledgeGraph, detail: str
) -> list[str]:
    """Return the messages of the first call for each question."""
    prompts, replies = [], ['{"choose": 0, "query": ""}']
    for question in questions:
        method = Guided(ScriptedModel(replies), detail=detail, looks=0, turns=0)
        steps = [step async for step in method.answer(Question(question.text), [graph])]
        messages = next((step.messages for step in steps if isinstance(step, Prompt)), ())
        prompts.append("\n\n".join(getattr(message, "text", "") for message in messages))
    await graph.endpoint.close()
    return prompts


def list_questions(name: str, sample: int | None) -> Iterator[NaturalQuestion]:
    """Yield the questions of a set with a gold query."""
    if name == "natural":
        yield from (item for item in read_questions(data_folder(), "natural") if item.gold)
    for listed in () if name == "natural" else listed_sets([name], sample=sample):
        paths = "\n".join(map(str, listed.files))
        for gold in listed.questions:
            if gold.sparql:
                yield NaturalQuestion(gold.id, paths, gold.text, (gold.sparql,), ())


def measure_set(
    name: str, chosen: argparse.Namespace, count_tokens: Callable[[str], int]
) -> Sequence[str]:
    """Return the figures of a set; print its misses."""
    workspace = Workspace(prepare_workspace(Path(__file__).parents[1] / "build" / "recall"))
    rows, tokens, misses = list[Terms](), list[int](), list[str]()
    for kg, group in groupby(list_questions(name, chosen.sample), lambda item: item.kg):
        questions, files = list(group), [data_folder() / name / "kg" / p for p in kg.split("\n")]
        if (key := f"{name}-{files[0].stem}") not in workspace.graphs():
            workspace.add(key, files)
        graph = workspace.graph(key)
        prompts = asyncio.run(build_prompts(questions, graph, chosen.detail))
        for question, prompt in zip(questions, prompts, strict=True):
            readings = (recall_terms(gold, prompt, graph) for gold in question.gold)
            rows.append(min(readings, key=lambda terms: sum(not term[2] for term in terms)))
            tokens.append(count_tokens(prompt))
            lacks = [" ".join(term[:2]) for term in rows[-1] if not term[2]]
            misses += [f"{question.id}: {question.text}: {', '.join(lacks)}"] if lacks else []
    print(*misses[: chosen.misses], sep="\n")
    shown = {
        kind: [term[2] for terms in rows for term in terms if term[0] == kind] for kind in KINDS
    }
    shares = [f"{fmean(values):.1%}" if values else "-" for values in shown.values()]
    complete = f"{fmean(all(term[2] for term in terms) for terms in rows):.1%}"
    return name, str(len(rows)), complete, *shares, f"{median(tokens):,.0f}", f"{max(tokens):,}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    add = parser.add_argument
    add("--set", action="append", help="sample, supply-kgrep, spider-graphs, natural; else all")
    add("--sample", type=int, help="questions of each graph; natural always has all")
    add("--detail", default="full", help="what the prompt shows")
    add("--misses", type=int, default=0, help="questions to list of each set")
    add("--tokenizer", type=Path, help="a .gguf with a tokenizer")
    chosen, count_tokens = parser.parse_args(), estimate_tokens
    if chosen.tokenizer:
        from transformers import AutoTokenizer

        path = chosen.tokenizer
        tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
        count_tokens = lambda text: len(tokenizer(text)["input_ids"])  # noqa: E731
    heads = ("set", "n", "all", *KINDS, "median", "max")
    sets = chosen.set or SETS
    print_table(heads, *[measure_set(name, chosen, count_tokens) for name in sets])


if __name__ == "__main__":
    main()
