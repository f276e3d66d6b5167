"""Benchmarks whose records are JSON objects: the keys and conversions of each format."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal

from askgraph.errors import SetupError
from askgraph.evaluation import ResultTable
from askgraph.evaluation.benchmarks import BenchmarkContents
from askgraph.evaluation.benchmarks._records import (
    FREEBASE_PREFIXES,
    PREFIXES_BY_GRAPH,
    UNANSWERABLE_TAG,
    Item,
    QuestionText,
    Record,
    UnusableItemError,
    collect_contents,
    detect_graph,
    detect_split,
    expand_wikidata_name,
    expand_wordings,
    find_keys,
    get_id,
    get_objects,
    get_query,
    get_text,
    get_texts,
    iterate_json_lines,
    iterate_json_list,
    load_json,
    number_records,
    parse_bindings,
    parse_json_result,
    parse_stored_answers,
    read_records,
)
from askgraph.evaluation.questions import GoldQuestion

Keys = frozenset[str]
_FORMATS = tomllib.loads(Path(__file__).with_name("json_formats.toml").read_text("utf-8"))


class JsonBenchmark:
    """A format whose records are JSON objects, described by the keys of their fields.

    `json_formats.toml` has the values of the attributes by the names of the classes.
    """

    title: ClassVar[str] = ""  # the name of the benchmark
    splits: ClassVar[tuple[str, ...]] = ()  # the usual splits of the benchmark
    required_keys: ClassVar[Keys] = frozenset()  # keys that a file must have
    alternative_keys: ClassVar[Keys] = frozenset()  # further keys; a file must have one of them
    excluded_keys: ClassVar[Keys] = frozenset()  # keys of similar formats that a file must not have
    first_character: ClassVar[str] = ""  # the first character of a file
    has_lines: ClassVar[bool] = False  # whether each line of a file is a record
    key: ClassVar[str | None] = None  # key of the list of records; None if the file is the list
    id_key: ClassVar[str] = "id"  # key of a record's id
    text_keys: ClassVar[tuple[str, ...]] = ("question",)  # the first with an English text counts
    paraphrase_keys: ClassVar[tuple[str, ...]] = ()  # of other wordings, if there is no text
    placeholder_texts: ClassVar[frozenset[str]] = frozenset()  # for no text, in lower case
    query_keys: tuple[str, ...] = ("sparql",)  # the first with a query counts
    tag_keys: ClassVar[tuple[str, ...]] = ()
    entity_keys: ClassVar[tuple[str, ...]] = ()  # keys of the entities of the question
    predicate_keys: ClassVar[tuple[str, ...]] = ()
    language: ClassVar[str | None] = None  # default language
    graph: str | None = None  # None to detect it from the queries

    def __init_subclass__(cls) -> None:
        for name, value in _FORMATS.get(cls.__name__, {}).items():
            setattr(
                cls, name, type(getattr(cls, name))(value) if isinstance(value, list) else value
            )

    def can_read(self, path: Path, head: str) -> bool:
        """Return whether the keys in the head of a file match this format."""
        head = head.lstrip()
        keys = find_keys(head.partition("\n")[0] if self.has_lines else head)
        has_signs = self.required_keys <= keys and self.excluded_keys.isdisjoint(keys)
        has_any = not self.alternative_keys or not self.alternative_keys.isdisjoint(keys)
        return has_signs and has_any and head.startswith(self.first_character)

    def read(self, path: Path, *, language: str | None = None) -> BenchmarkContents:
        """Read all questions; detect the graph from their queries if the format does not fix it."""
        split = detect_split(path, self.splits)

        def read_question(location: str, record: Record) -> Iterator[Item]:
            question = replace(
                self.build_question(record), id=get_id(record, self.id_key, location), split=split
            )
            return expand_wordings(
                location, question, self.get_question_texts(record), language or self.language
            )

        contents = collect_contents(read_records(self.iterate_records(path), read_question))
        graph = self.graph or detect_graph(question.sparql or "" for question in contents.questions)
        return replace(contents, graph=graph, prefixes=PREFIXES_BY_GRAPH.get(graph or "", {}))

    def iterate_records(self, path: Path) -> Iterator[tuple[str, Record | str]]:
        """Yield the records of a file, each with its location."""
        return iterate_json_lines(path) if self.has_lines else iterate_json_list(path, key=self.key)

    def get_question_texts(self, record: Record) -> Sequence[QuestionText]:
        """Return the wordings that can be asked."""
        return [QuestionText("".join(self._collect_wordings(record)[:1]), "en")]

    def build_question(self, record: Record) -> GoldQuestion:
        """Build the question of a record, without its id and text."""
        return GoldQuestion(
            "",
            "",
            sparql=next(
                (query for key in self.query_keys if (query := get_query(record, key))), None
            ),
            answers=self.parse_answers(record),
            tags=_collect_texts(record, self.tag_keys),
            entities=tuple(map(self.to_iri, _collect_texts(record, self.entity_keys))),
            predicates=tuple(map(self.to_iri, _collect_texts(record, self.predicate_keys))),
            paraphrases=self._collect_wordings(record)[1:],
        )

    def parse_answers(self, record: Record) -> ResultTable | None:
        """Return the stored answers; None for a format without them."""
        return None

    def to_iri(self, name: str) -> str:
        """Return the IRI of an entity or predicate from its name in a record."""
        return (
            FREEBASE_PREFIXES["ns"] + name
            if self.graph == "freebase"
            else expand_wikidata_name(name.strip("<>"))
        )

    def _collect_wordings(self, record: Record) -> tuple[str, ...]:
        texts = next((values for key in self.text_keys if (values := get_texts(record, key))), ())
        wordings = (*texts, *_collect_texts(record, self.paraphrase_keys))
        return tuple(text for text in wordings if text.lower() not in self.placeholder_texts)


def _collect_texts(record: Record, keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(text for key in keys for text in get_texts(record, key))


class ComplexWebQuestions(JsonBenchmark):
    """ComplexWebQuestions: WebQSP questions made complex by a program, then reworded by people."""

    def parse_answers(self, record: Record) -> ResultTable | None:
        """Return the stored answers, entities as IRIs."""
        values = [self._parse_answer(answer) for answer in get_objects(record, "answers")]
        return ResultTable.from_json(["x"], [[value] for value in values]) if values else None

    def _parse_answer(self, answer: Record) -> str:
        match answer:
            case {"answer_id": str(name)} if name:
                return self.to_iri(name) if name.startswith(("m.", "g.")) else name
            case {"answer": str(text)}:
                return text
            case _:
                raise UnusableItemError(
                    "an answer must be an object with 'answer_id' or 'answer', a text"
                )


class DblpQuad(JsonBenchmark):
    """DBLP-QuAD: 10,000 questions made from templates over the bibliography DBLP."""


class SciQa(DblpQuad):
    """SciQA: 2,565 questions over the Open Research Knowledge Graph, by hand and from templates."""


class GraspLines(JsonBenchmark):
    """The JSON lines in which GRASP's repository stores many public benchmarks."""

    def build_question(self, record: Record) -> GoldQuestion:
        """Build a question, tagged `invalid` if the authors could not use its query."""
        match record.get("info"):
            case {"invalid": True}:
                return replace(super().build_question(record), tags=("invalid",))
            case _:
                return super().build_question(record)


class LcQuad(JsonBenchmark):
    """LC-QuAD 1.0: 5,000 questions from templates, corrected by people, over DBpedia 2016-04."""

    def build_question(self, record: Record) -> GoldQuestion:
        """Build a question, tagged with its template."""
        template = record.get("sparql_template_id", record.get("id"))
        tags = () if template is None else (f"template {template}",)
        return replace(super().build_question(record), tags=tags)


class LcQuad2(JsonBenchmark):
    """LC-QuAD 2.0: 30,000 questions from templates, reworded, over Wikidata and DBpedia 2018."""

    def __init__(self, graph: Literal["wikidata", "dbpedia"] = "wikidata") -> None:
        self.graph = graph
        self.query_keys = ("sparql_wikidata" if graph == "wikidata" else "sparql_dbpedia18",)


class PatQuestions(JsonBenchmark):
    """PAT-Questions: questions whose answer changes with the present, over states of Wikidata."""

    def iterate_records(self, path: Path) -> Iterator[tuple[str, Record | str]]:
        """Yield the values of the file's object."""
        content = load_json(path)
        records = list(content.values()) if isinstance(content, dict) else content
        if not isinstance(records, list):
            raise SetupError(f"{path}: expected an object with a record for each question")
        return number_records(path, records)

    def build_question(self, record: Record) -> GoldQuestion:
        """Build a question, tagged with its number of hops."""
        question, subject = super().build_question(record), record.get("subject")
        name = get_text(subject, "subject") if isinstance(subject, dict) else None
        hops = ("", "single-hop", "multi-hop")[min(2, len(question.predicates))]
        return replace(
            question,
            tags=tuple(filter(None, (hops, *question.tags))),
            entities=(self.to_iri(name),) if name else (),
        )

    def parse_answers(self, record: Record) -> ResultTable | None:
        """Return the annotated answers, entities as IRIs; otherwise the plain texts."""
        names = [
            get_text(annotation, "ID") or get_text(annotation, "Label")
            for annotation in get_objects(record, "answer annotations")
        ]
        if None in names:
            raise UnusableItemError("one of its 'answer annotations' has neither 'ID' nor 'Label'")
        bindings = [
            {"answer": {"type": "uri", "value": self.to_iri(value)}}
            if re.fullmatch(r"Q[0-9]+", value)
            else {"answer": {"type": "literal", "value": value}}
            for value in list(filter(None, names)) or list(get_texts(record, "text answers"))
        ]
        return parse_bindings(bindings) if bindings else None


class Qald(JsonBenchmark):
    """QALD: questions in many languages over DBpedia or Wikidata (QALD-7, -9, -9-plus, -10)."""

    def build_question(self, record: Record) -> GoldQuestion:
        """Build a question with its flags as tags; a question out of scope has no query."""
        question = replace(super().build_question(record), paraphrases=())
        flags = [key for key in ("aggregation", "onlydbo", "hybrid") if record.get(key) is True]
        question = replace(question, tags=(*question.tags, *flags))
        out_of_scope = question.sparql == "OUT OF SCOPE"
        return replace(question, sparql=None, unanswerable=True) if out_of_scope else question

    def get_question_texts(self, record: Record) -> Sequence[QuestionText]:
        """Return the wordings in all languages."""
        return [
            QuestionText(get_text(wording, "string") or "", get_text(wording, "language"))
            for wording in get_objects(record, "question")
        ]

    def parse_answers(self, record: Record) -> ResultTable | None:
        """Return the table of the only result, or of several results with the same variables."""
        tables = [parse_json_result(result) for result in get_objects(record, "answers")]
        if len(tables) < 2:
            return tables[0] if tables else None
        variables = tables[0].variables
        if any(table.boolean is not None or table.variables != variables for table in tables):
            raise UnusableItemError("its stored answers contradict each other")
        rows = tuple(row for table in tables for row in table.rows)
        terms = tuple(row for table in tables for row in table.terms)
        return ResultTable(variables, rows, terms=terms if len(terms) == len(rows) else ())


class Rubq(JsonBenchmark):
    """RuBQ 1.0 and 2.0: Russian quiz questions over Wikidata, with English machine translations."""

    def build_question(self, record: Record) -> GoldQuestion:
        """Build a question; it is unanswerable if Wikidata holds no answer."""
        question = super().build_question(record)
        return replace(question, unanswerable=bool({"no_answer", "no-answer"} & {*question.tags}))

    def get_question_texts(self, record: Record) -> Sequence[QuestionText]:
        """Return the Russian text and the English one."""
        texts = (("question_text", "ru"), ("question_eng", "en"))
        return [QuestionText(get_text(record, key) or "", language) for key, language in texts]

    def parse_answers(self, record: Record) -> ResultTable | None:
        """Return the stored answers."""
        bindings = [{"answer": answer} for answer in get_objects(record, "answers")]
        return parse_bindings(bindings) if bindings else None


class SimpleDbpediaQa(JsonBenchmark):
    """SimpleDBpediaQA: the questions of SimpleQuestions about one fact that DBpedia has."""

    def build_question(self, record: Record) -> GoldQuestion:
        """Build a question with a query made from its facts."""
        subject, facts = get_text(record, "Subject") or "", get_objects(record, "PredicateList")
        if not _IRI.fullmatch(subject) or not facts:
            raise UnusableItemError(
                "it needs 'Subject', an IRI, and 'PredicateList', a list that is not empty"
            )
        patterns = [_build_fact_pattern(subject, fact) for fact in facts]
        union = " UNION ".join(f"{{ {pattern} }}" for pattern in patterns)
        return GoldQuestion(
            "",
            "",
            sparql=f"SELECT DISTINCT ?x WHERE {{ {union if len(facts) > 1 else patterns[0]} }}",
            entities=(subject,),
            predicates=tuple(dict.fromkeys(str(fact.get("Predicate")) for fact in facts)),
        )


_IRI = re.compile(r"[a-z]+:[^\x00-\x20<>\"{}|\\^`]+")


def _build_fact_pattern(subject: str, fact: Record) -> str:
    predicate, direction = fact.get("Predicate"), fact.get("Direction")
    cls = fact.get("Constraint")
    if not (isinstance(predicate, str) and _IRI.fullmatch(predicate)):
        raise UnusableItemError(f"'Predicate' must be an IRI, not {predicate!r}")
    if direction not in ("forward", "backward"):
        raise UnusableItemError(f"'Direction' must be forward or backward, not {direction!r}")
    if not (cls is None or (isinstance(cls, str) and _IRI.fullmatch(cls))):
        raise UnusableItemError(f"'Constraint' must be the IRI of a class or null, not {cls!r}")
    ends = (f"<{subject}>", "?x") if direction == "forward" else ("?x", f"<{subject}>")
    pattern = f"{ends[0]} <{predicate}> {ends[1]} ."
    return f"{pattern} ?x a <{cls}> ." if cls else pattern


class Spinach(JsonBenchmark):
    """SPINACH: 320 hard questions with queries, from people who requested Wikidata queries."""


class WebQsp(JsonBenchmark):
    """WebQSP: questions to a search engine, with queries and answers over Freebase."""

    def build_question(self, record: Record) -> GoldQuestion:
        """Build a question with the query and the answers of its first parse."""
        parses = get_objects(record, "Parses")
        return super().build_question(
            next((parse for parse in parses if parse.get("Sparql") or parse.get("Answers")), {})
        )

    def parse_answers(self, record: Record) -> ResultTable | None:
        """Return the stored answers of a parse, entities as IRIs."""
        rows = []
        for answer in get_objects(record, "Answers"):
            if not isinstance(value := answer.get("AnswerArgument"), str):
                raise UnusableItemError("an answer must be an object with 'AnswerArgument', a text")
            rows.append([self.to_iri(value) if answer.get("AnswerType") == "Entity" else value])
        return ResultTable.from_json(["x"], rows) if rows else None


class WikiWebQuestions(JsonBenchmark):
    """WikiWebQuestions: the WebQuestionsSP questions that Wikidata can answer, with results."""

    def parse_answers(self, record: Record) -> ResultTable | None:
        """Return the stored results."""
        match record.get("results"):
            case None:
                return None
            case bool(value):
                return ResultTable.from_boolean(value)
            case list(bindings):
                return parse_bindings(bindings)
            case _:
                raise UnusableItemError("'results' must be a list of solutions or a boolean")


class QuestionsJsonl:
    """Our own format: one question per line, in one language.

    `id` and `question` are required. `"sparql": null` without answers, or the tag `unanswerable`,
    means that the graph holds no answer. `kg` names the graph if a file covers several.
    """

    title: ClassVar[str] = "Lines of questions (askgraph)"
    splits: ClassVar[tuple[str, ...]] = ("train", "dev", "test")

    def can_read(self, path: Path, head: str) -> bool:
        """Return whether the first line is an object with id and question."""
        line = head.lstrip().partition("\n")[0]
        keys = find_keys(line)
        excluded_keys = {"questions", "paraphrases", "info"}
        return (
            line.startswith("{") and {"id", "question"} <= keys and excluded_keys.isdisjoint(keys)
        )

    def read(self, path: Path, *, language: str | None = None) -> BenchmarkContents:
        """Read all questions that can be scored."""
        items = (
            item
            for record in self.iterate_items(path)
            for item in _select_language(*record, language)
        )
        contents = collect_contents(items)
        graphs = {question.graph for question in contents.questions}
        graph = next(iter(graphs)) if len(graphs) == 1 else None
        return BenchmarkContents(contents.questions, contents.unreadable, graph)

    def iterate_items(self, path: Path) -> Iterator[Item]:
        """Yield the question of every line, scorable or not, or the reason why it has none."""
        return read_records(
            iterate_json_lines(path), lambda location, record: [(location, _build_question(record))]
        )


def _select_language(
    location: str, question: GoldQuestion | str, language: str | None
) -> Iterator[Item]:
    if isinstance(question, str) or language is None:
        yield location, question
        return
    text = QuestionText(question.text, question.language)
    yield from read_records(
        [(location, question)],
        lambda item_location, item: expand_wordings(item_location, item, [text], language),
    )


def _build_question(record: Record) -> GoldQuestion:
    identity, text = record.get("id"), record.get("question")
    if isinstance(identity, bool) or not isinstance(identity, str | int) or identity == "":
        raise UnusableItemError("no 'id'")
    if not isinstance(text, str):
        raise UnusableItemError(f"question {str(identity)!r} has no 'question' text")
    answers, tags = parse_stored_answers(record.get("answers")), get_texts(record, "tags")
    lacks_answer = "sparql" in record and record["sparql"] is None and answers is None
    return GoldQuestion(
        id=str(identity),
        text=text,
        language=get_text(record, "lang"),
        sparql=get_text(record, "sparql"),
        answers=answers,
        tags=tags,
        graph=get_text(record, "kg"),
        unanswerable=lacks_answer or UNANSWERABLE_TAG in tags,
        split=get_text(record, "split"),
    )
