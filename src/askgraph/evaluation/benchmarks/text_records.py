"""Formats of text and RDF: SimpleQuestions, SHACL examples, and quoted graphs of Notation3."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

from askgraph.endpoint import Endpoint
from askgraph.errors import SetupError
from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.benchmarks._records import (
    FREEBASE_PREFIXES,
    UNANSWERABLE_TAG,
    WIKIDATA_PREFIXES,
    Item,
    QuestionText,
    UnusableItemError,
    collect_contents,
    detect_split,
    expand_wikidata_name,
    expand_wordings,
    read_records,
)
from askgraph.evaluation.questions import GoldQuestion
from askgraph.graph.archives import get_plain_name, is_bundle, read_text
from askgraph.graph.examples.shacl import ExecutableItem as Described
from askgraph.graph.examples.shacl import ShaclExecutable, iterate_executables
from askgraph.graph.published_metadata import fetch_published_examples
from askgraph.sparql import vocabulary as voc
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rdf_files import SubjectDescription, parse_statements

COLUMN_NAMES = "subject, predicate, object, question"
WIKIDATA_FACT = re.compile(r"Q[0-9]+\t[PR][0-9]+\tQ[0-9]+\t")
FREEBASE_FACT = re.compile(r"(?:www\.freebase\.com/[^\t\n]+\t){3}")


class SimpleQuestions:
    """SimpleQuestions: over 100,000 English questions about one fact of Freebase or Wikidata.

    Bordes et al., "Large-scale Simple Question Answering with Memory Networks", arXiv 1506.02075
    (CC BY 3.0); Diefenbach et al., "Question Answering Benchmarks for Wikidata", ISWC 2017 posters.
    A line is subject, predicate, object and question, separated by tabs. The query selects all
    objects of that subject and predicate, since the line often holds only one of several. `R19` is
    the inverse of Wikidata's `P19`.
    """

    title: ClassVar[str] = "SimpleQuestions"
    splits: ClassVar[tuple[str, ...]] = ("train", "valid", "test")

    def can_read(self, path: Path, head: str) -> bool:
        """Return whether the first line begins with a fact."""
        return bool(WIKIDATA_FACT.match(head) or FREEBASE_FACT.match(head))

    def read(self, path: Path, *, language: str | None = None) -> BenchmarkContents:
        """Read one question from each line; its id is the line number."""
        split = detect_split(path, self.splits)

        def read_question(location: str, columns: list[str]) -> Iterator[Item]:
            if len(columns) != 4:
                raise UnusableItemError(f"it has {len(columns)} columns; expected {COLUMN_NAMES}")
            subject, predicate, _, text = (column.strip() for column in columns)
            query, entity, relation = _build_query(subject, predicate)
            question = GoldQuestion(
                location.rpartition(" ")[2],
                "",
                sparql=query,
                split=split,
                entities=(entity,),
                predicates=(relation,),
            )
            return expand_wordings(location, question, [QuestionText(text, "en")], language)

        text = read_text(path)
        is_freebase = bool(FREEBASE_FACT.match(text))
        facts = (
            (f"{path}, line {number}", line.split("\t"))
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        )
        return collect_contents(
            read_records(facts, read_question),
            graph="freebase" if is_freebase else "wikidata",
            prefixes=FREEBASE_PREFIXES if is_freebase else WIKIDATA_PREFIXES,
        )


def _build_query(subject: str, predicate: str) -> tuple[str, str, str]:
    if re.fullmatch(r"Q[0-9]+", subject) and re.fullmatch(r"[PR][0-9]+", predicate):
        entity, relation = f"wd:{subject}", f"wdt:P{predicate[1:]}"
        pattern = f"?x {relation} {entity}" if predicate[0] == "R" else f"{entity} {relation} ?x"
        query = f"SELECT DISTINCT ?x WHERE {{ {pattern} }}"
        return query, expand_wikidata_name(subject), expand_wikidata_name(predicate)
    names = [_parse_freebase_name(path) for path in (subject, predicate)]
    namespace = FREEBASE_PREFIXES["ns"]
    query = f"SELECT DISTINCT ?x WHERE {{ ns:{names[0]} ns:{names[1]} ?x }}"
    return query, namespace + names[0], namespace + names[1]


def _parse_freebase_name(path: str) -> str:
    """Return `m.0abc` for `www.freebase.com/m/0abc`."""
    match = re.fullmatch(r"www\.freebase\.com/(\w+(?:/\w+)+)", path)
    if match is None:
        raise UnusableItemError(f"{path!r} is neither a Wikidata nor a Freebase identifier")
    return match[1].replace("/", ".")


NO_QUERY_MESSAGE = (
    "neither sh:select nor sh:ask; others cannot be scored. Give it one, or the keyword "
    f"{UNANSWERABLE_TAG!r} if the graph has no answer"
)


class ShaclExamples:
    """Question–query pairs as SHACL executables in Turtle: a file, folder, archive or endpoint.

    Bolleman et al., "A large collection of bioinformatics question–query pairs over federated
    knowledge graphs", GigaScience 2025 (the collection of the SIB: CC BY 4.0). Prefixes are
    declared once for many files and shared through a blank node; a file sees its own prefixes and
    those of the files in its folder and the folders above. CONSTRUCT and DESCRIBE queries have no
    rows to score and are listed as unreadable. The keyword `unanswerable` means that the graph
    holds no answer. Language None selects English if present, else the first text.
    """

    title: ClassVar[str] = "SHACL examples (SIB)"
    splits: ClassVar[tuple[str, ...]] = ()

    def can_read(self, path: Path, head: str) -> bool:
        """Return whether the file is Turtle, or a folder or archive that holds a Turtle file."""
        names = head.lower().split("\n") if is_bundle(path) else [get_plain_name(path)]
        return any(name.removesuffix(".gz").endswith(".ttl") for name in names)

    def read(self, path: Path, *, language: str | None = None) -> BenchmarkContents:
        """Read all examples; list the files of a folder or archive that are not valid Turtle."""
        return _set_common_graph(collect_contents(self.iterate_items(path, language=language)))

    async def read_endpoint(
        self, endpoint: Endpoint, *, language: str | None = None
    ) -> BenchmarkContents:
        """Read the examples that a SPARQL endpoint publishes in its own graph.

        A truncated reply is listed as unreadable.

        Raises:
            ServiceError: The endpoint failed.
        """
        items = _iterate_questions(await fetch_published_examples(endpoint), language)
        return _set_common_graph(collect_contents(items))

    def iterate_items(self, path: Path, *, language: str | None) -> Iterator[Item]:
        """Yield the questions of every example, or the reason why it has none."""
        yield from _iterate_questions(iterate_executables(path), language)


def _iterate_questions(items: Iterable[Described], language: str | None) -> Iterator[Item]:
    def read_example(location: str, example: ShaclExecutable) -> Iterator[Item]:
        if example.query is None and UNANSWERABLE_TAG not in example.keywords:
            raise UnusableItemError(NO_QUERY_MESSAGE)
        if not example.wordings:
            raise UnusableItemError("it has no rdfs:comment with the question")
        question = GoldQuestion(
            id=example.node.value,
            text="",
            sparql=example.query,
            tags=(*example.keywords, *(("federated",) if example.federates_with else ())),
            graph=next(iter(example.targets), None),
            unanswerable=UNANSWERABLE_TAG in example.keywords,
        )
        texts = [QuestionText(wording.text, wording.language) for wording in example.wordings]
        return expand_wordings(location, question, texts, language)

    return read_records(items, read_example)


def _set_common_graph(contents: BenchmarkContents) -> BenchmarkContents:
    targets = {question.graph for question in contents.questions}
    graph = next(iter(targets)) if len(targets) == 1 else None
    return BenchmarkContents(contents.questions, contents.unreadable, graph)


DC_SUBJECT = voc.DC + "subject"
QUOTED_GRAPH_DATATYPE = "tag:askgraph,2025:quoted-graph"
_TOKEN = re.compile(
    r'#[^\n]*|<[^<>\s]*>|"""(?:[^"\\]|\\.|"(?!""))*"""|"(?:[^"\\\n]|\\.)*"|[{}]', re.DOTALL
)
_PLUS_SUFFIX = re.compile(r"__plus(>?)(?=\s)")
_VARIABLE = re.compile(r"\?\w+")


class N3Corpus:
    """Questions with quoted graphs of Notation3 as queries, from a study of representations.

    Henselmann, Käfer and Harth, 2025 (CC BY-NC-SA 4.0): questions are labels, `dc:subject` tags
    them, and `rdf:value` holds the query pattern. In it, `?x` is a column, `_:y` stands for a
    variable that is not, and a name that ends in `__plus` for a path of one or more steps. Language
    None selects English if present, else the first text.
    """

    title: ClassVar[str] = "Quoted graphs in N3"
    splits: ClassVar[tuple[str, ...]] = ()

    def can_read(self, path: Path, head: str) -> bool:
        """Return whether the file is an N3 file with braces."""
        return get_plain_name(path).endswith(".n3") and "{" in head

    def read(self, path: Path, *, language: str | None = None) -> BenchmarkContents:
        """Read all labelled quoted graphs; the id of a question is made from its label."""
        statements, prefixes = parse_statements(
            _convert_to_turtle(read_text(path), str(path)), str(path)
        )
        subjects = dict.fromkeys(
            subject
            for predicate in (voc.RDFS_LABEL, voc.RDF_VALUE)
            for subject in statements.describe_subjects(predicate)
        )
        items: list[tuple[str, SubjectDescription | str]] = [
            (f"{path}, item {number}", subject) for number, subject in enumerate(subjects, start=1)
        ]

        def read_question(location: str, subject: SubjectDescription) -> Iterator[Item]:
            texts = [QuestionText(*label) for label in subject.get_labels(voc.RDFS_LABEL)]
            values = subject.get_literals(voc.RDF_VALUE)
            quoted_graphs = [
                value.value for value in values if value.datatype.value == QUOTED_GRAPH_DATATYPE
            ]
            if len(quoted_graphs) != 1:
                raise UnusableItemError(
                    f"it has {len(quoted_graphs)} quoted graphs (rdf:value); expected one"
                )
            body = _PLUS_SUFFIX.sub(r"\1+", quoted_graphs[0].strip() + "\n")
            variables = " ".join(dict.fromkeys(_VARIABLE.findall(body)))
            form = f"SELECT DISTINCT {variables} WHERE" if variables else "ASK"
            question = GoldQuestion(
                re.sub(r"[^\w]+", "-", (texts[0].text if texts else "").lower()).strip("-")
                or "unnamed",
                "",
                sparql=f"{PrefixMap(prefixes).build_header(body)}{form} {{\n{body}}}",
                tags=tuple(tag.value for tag in subject.get_literals(DC_SUBJECT)),
            )
            return expand_wordings(location, question, texts, language)

        return collect_contents(read_records(items, read_question), prefixes=prefixes)


def _convert_to_turtle(text: str, location: str) -> str:
    """Return N3 as Turtle with the same lines: each quoted graph becomes a literal of its text."""
    pieces: list[str] = []
    depth = end = 0
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            depth += 1
            if depth == 1:
                pieces.append(text[end : token.start()])
                end = token.end()
        elif token[0] == "}":
            depth -= 1
            if depth < 0:
                break
            if depth == 0:
                body = text[end : token.start()].replace("\\", "\\\\").replace('"', '\\"')
                pieces.append(f'"""{body}"""^^<{QUOTED_GRAPH_DATATYPE}>')
                end = token.end()
    if depth:
        line = text.count("\n", 0, token.start() if depth < 0 else end) + 1
        raise SetupError(f"{location}, line {line}: an unmatched brace")
    return "".join([*pieces, text[end:]])
