"""Writes the sample graph: `python tools/make_sample.py` turns `sample_facts/*.csv` into Turtle.

The fact tables are the source of `space.ttl`; `questions.ttl` is written by hand, and
`questions.jsonl` holds the same questions with the answers that the graph gives to their queries.

A table has a row for each entity. The columns `id`, `type`, `en`, `de`, `es`, `alt` and `comment`
name it; every other column is named for a predicate of `predicates.csv`. `|` separates several
values; an alternative name ends in `@de` or `@es` unless it is English. `crew.csv` has a row for
each crew membership instead.
"""

import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyoxigraph as ox

FACTS = Path(__file__).parent / "sample_facts"
SAMPLE = Path(__file__).parent.parent / "src" / "askgraph" / "sample"
QUESTIONS = "questions.ttl"
LANGUAGES = ("en", "de", "es")
NAMING = {"id", "type", "parent", "alt", "comment", *LANGUAGES}
PREFIXES = {
    "crew": "https://example.org/space/crew/",
    "ont": "https://example.org/space/ontology#",
    "owl": "http://www.w3.org/2002/07/owl#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "space": "https://example.org/space/",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
HEADER = "# A graph of well-known facts about space exploration, written for askgraph.\n"
GENERATED = "# Made by tools/make_sample.py from the tables in tools/sample_facts.\n\n"

Row = Mapping[str, str]


@dataclass
class Block:
    """What the graph says of one subject: its Turtle terms by predicate."""

    subject: str
    values: dict[str, list[str]] = field(default_factory=dict)

    def add(self, predicate: str, *terms: str) -> None:
        """Adds terms, each once, in the order they come."""
        known = self.values.setdefault(predicate, [])
        known.extend(term for term in dict.fromkeys(terms) if term not in known)

    def turtle(self) -> str:
        """The block as it is written: type and names first, then by predicate."""
        first = ["a", "rdfs:label", "skos:altLabel", "rdfs:comment"]
        rest = sorted(self.values.keys() - set(first))
        lines = [
            f"    {predicate} {', '.join(self.values[predicate])}"
            for predicate in first + rest
            if self.values.get(predicate)
        ]
        return f"{self.subject}\n" + " ;\n".join(lines) + " .\n"


@dataclass(frozen=True)
class Vocabulary:
    """The classes and predicates that the tables may use."""

    classes: Mapping[str, Row]
    predicates: Mapping[str, Row]

    def types(self, name: str) -> list[str]:
        """The class and its ancestors, so that no reader has to infer them."""
        chain = [f"ont:{name}"]
        while name := self.classes[name]["parent"]:
            chain.append(f"ont:{name}")
        return chain

    def term(self, predicate: str, value: str) -> str:
        """A cell's value as a Turtle term of the predicate's range."""
        match self.predicates[predicate]["range"]:
            case "xsd:decimal":
                return value if "." in value else f"{value}.0"
            case "xsd:double" | "xsd:integer":
                return value
            case "xsd:date" | "xsd:gYear" | "":
                datatype = "gYear" if re.fullmatch(r"\d{4}", value) else "date"
                return f'"{value}"^^xsd:{datatype}'
            case _:
                return f"space:{value}"


def main() -> None:
    """Writes the graph and the answered questions beside the handwritten questions."""
    graph = graph_turtle()
    questions = (SAMPLE / QUESTIONS).read_text(encoding="utf-8")
    (SAMPLE / "space.ttl").write_text(graph, encoding="utf-8")
    (SAMPLE / "questions.jsonl").write_text(answered(questions, graph), encoding="utf-8")


def graph_turtle() -> str:
    """The text of `space.ttl`."""
    vocabulary = Vocabulary(by_id("classes"), by_id("predicates"))
    tables = {
        path.stem: rows(path.stem)
        for path in sorted(FACTS.glob("*.csv"))
        if path.stem not in {"classes", "predicates", "crew"}
    }
    entities = {row["id"]: row for table in tables.values() for row in table}
    sections = {
        "vocabulary: classes": class_blocks(vocabulary),
        "vocabulary: predicates": predicate_blocks(vocabulary),
        **{name: [entity_block(row, vocabulary) for row in t] for name, t in tables.items()},
        "crew memberships": list(crew_blocks(rows("crew"), entities)),
    }
    refuse_unknown(sections.values())
    prefixes = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in PREFIXES.items())
    parts = [
        f"\n# {name.replace('_', ' ')}\n\n" + "\n".join(turtle_of(blocks))
        for name, blocks in sections.items()
    ]
    return HEADER + GENERATED + prefixes + "".join(parts)


def rows(table: str) -> list[Row]:
    """The rows of a fact table; exits when a row has more or fewer cells than the header."""
    with (FACTS / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        header, *cells = csv.reader(file)
    for row in cells:
        if len(row) != len(header):
            sys.exit(f"{table}.csv: {row[0]!r} has {len(row)} cells, the header {len(header)}")
    return [dict(zip(header, row, strict=True)) for row in cells]


def by_id(table: str) -> dict[str, Row]:
    """The rows of a fact table by their local names."""
    return {row["id"]: row for row in rows(table)}


def class_blocks(vocabulary: Vocabulary) -> list[Block]:
    """The declarations of the classes."""
    return [
        declaration(row, "owl:Class", {"rdfs:subClassOf": row["parent"]})
        for row in vocabulary.classes.values()
    ]


def predicate_blocks(vocabulary: Vocabulary) -> list[Block]:
    """The declarations of the predicates."""
    blocks = []
    for row in vocabulary.predicates.values():
        literal = row["range"].startswith("xsd:") or not row["range"]
        kind = "owl:DatatypeProperty" if literal else "owl:ObjectProperty"
        block = declaration(
            row,
            kind,
            {
                "rdfs:domain": row["domain"],
                "rdfs:range": row["range"],
                "owl:inverseOf": row["inverseOf"],
            },
        )
        if row["characteristic"] == "transitive":
            block.add("a", "owl:TransitiveProperty")
        blocks.append(block)
    return blocks


def declaration(row: Row, kind: str, links: Mapping[str, str]) -> Block:
    """A class or predicate with its names and its links to others."""
    block = Block(f"ont:{row['id']}")
    block.add("a", kind)
    add_names(block, row)
    for predicate, target in links.items():
        if target:
            block.add(predicate, target if ":" in target else f"ont:{target}")
    return block


def entity_block(row: Row, vocabulary: Vocabulary) -> Block:
    """An entity with its types, names and facts."""
    block = Block(f"space:{row['id']}")
    for name in several(row["type"]):
        block.add("a", *vocabulary.types(name))
    add_names(block, row)
    for column in row.keys() - NAMING:
        terms = [vocabulary.term(column, value) for value in several(row[column])]
        if terms:
            block.add(f"ont:{column}", *terms)
    return block


def crew_blocks(memberships: Iterable[Row], entities: Mapping[str, Row]) -> Iterator[Block]:
    """A node without a name for each membership; it lasts as long as the mission unless it says."""
    counts: dict[str, int] = {}
    for row in memberships:
        mission = entities[row["mission"]]
        counts[mission["id"]] = number = counts.get(mission["id"], 0) + 1
        block = Block(f"crew:{mission['id']}-{number}")
        block.add("a", "ont:CrewMembership")
        block.add("ont:mission", f"space:{mission['id']}")
        block.add("ont:member", f"space:{row['member']}")
        block.add("ont:role", *(f"space:{role}" for role in several(row["role"])))
        for predicate, date in (
            ("ont:fromDate", row["from"] or mission["launchDate"]),
            ("ont:toDate", row["to"] or mission["endDate"]),
        ):
            if date:
                block.add(predicate, f'"{date}"^^xsd:date')
        yield block


def add_names(block: Block, row: Row) -> None:
    """Adds labels, alternative names and the comment."""
    block.add("rdfs:label", *(text(row[tag], tag) for tag in LANGUAGES if row[tag]))
    for name in several(row.get("alt", "")):
        words, _, tag = name.partition("@")
        block.add("skos:altLabel", text(words, tag or "en"))
    if comment := row.get("comment"):
        block.add("rdfs:comment", text(comment, "en"))


def several(cell: str) -> list[str]:
    """The values of a cell."""
    return [value for value in cell.split("|") if value]


def text(words: str, language: str) -> str:
    """A string in a language, as Turtle."""
    return f"{json.dumps(words, ensure_ascii=False)}@{language}"


def refuse_unknown(sections: Iterable[Iterable[Block]]) -> None:
    """Exits when an entity is described twice, or named but never described."""
    blocks = [block for section in sections for block in section]
    subjects = Counter(block.subject for block in blocks)
    terms = {term for block in blocks for values in block.values.values() for term in values}
    twice = {subject for subject, count in subjects.items() if count > 1}
    missing = {term for term in terms if term.startswith(("space:", "ont:"))} - subjects.keys()
    if twice or missing:
        sys.exit(f"described twice: {sorted(twice)}; never described: {sorted(missing)}")


def turtle_of(blocks: Iterable[Block]) -> list[str]:
    """The blocks as Turtle, sorted by subject; the numbers in crew nodes sort as numbers."""
    key = re.compile(r"(.*?)(?:-(\d+))?$")

    def order(block: Block) -> tuple[str, int]:
        found = key.fullmatch(block.subject)
        return (found[1], int(found[2] or 0)) if found else (block.subject, 0)

    return [block.turtle() for block in sorted(blocks, key=order)]


def answered(questions: str, graph: str) -> str:
    """The text of `questions.jsonl`: one question a line, with the answers of its query."""
    examples, store = ox.Store(), ox.Store()
    examples.load(questions.encode(), format=ox.RdfFormat.TURTLE)
    store.load(graph.encode(), format=ox.RdfFormat.TURTLE)
    found = examples.query(
        """PREFIX sh: <http://www.w3.org/ns/shacl#>
        PREFIX schema: <https://schema.org/>
        PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
        SELECT ?id ?question ?query (GROUP_CONCAT(?tag; separator="|") AS ?tags) WHERE {
          ?id a sh:SPARQLExecutable ; rdfs:comment ?question .
          ?id schema:keywords ?tag .
          OPTIONAL { ?id sh:select|sh:ask ?query }
        } GROUP BY ?id ?question ?query ORDER BY ?id"""
    )
    assert isinstance(found, ox.QuerySolutions)
    return "".join(json.dumps(record(row, store), ensure_ascii=False) + "\n" for row in found)


def record(row: ox.QuerySolution, store: ox.Store) -> dict[str, object]:
    """One line of `questions.jsonl`."""
    iri, question, query, tags = row["id"], row["question"], row["query"], row["tags"]
    assert isinstance(iri, ox.NamedNode)
    assert isinstance(question, ox.Literal)
    assert isinstance(tags, ox.Literal)
    sparql = query.value if isinstance(query, ox.Literal) else None
    return {
        "id": iri.value.rsplit("/", 1)[-1],
        "question": question.value,
        "lang": question.language,
        "sparql": sparql,
        "tags": sorted(tags.value.split("|")),
        "answers": answers(sparql, store) if sparql else None,
    }


def answers(query: str, store: ox.Store) -> dict[str, object]:
    """The answer to a query as plain strings; rows are sorted where the query does not order."""
    result = store.query(query)
    if isinstance(result, ox.QueryBoolean):
        return {"boolean": bool(result)}
    assert isinstance(result, ox.QuerySolutions)
    names = [variable.value for variable in result.variables]
    table = [[plain(row[name]) for name in names] for row in result]
    return {"vars": names, "rows": table if "ORDER BY" in query else sorted(table)}


def plain(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple | None) -> str:
    """A term's IRI or lexical form; a value that is missing is the empty string."""
    match term:
        case ox.NamedNode() | ox.BlankNode() | ox.Literal():
            return term.value
        case _:
            return ""


if __name__ == "__main__":
    main()
