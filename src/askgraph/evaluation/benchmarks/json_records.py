"""Benchmarks whose records are JSON objects, each of them a question: what is where in a record."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Literal

from askgraph.errors import SetupError
from askgraph.evaluation import Table
from askgraph.evaluation.benchmarks import Contents
from askgraph.evaluation.benchmarks._records import (
    FREEBASE,
    PREFIXES,
    Item,
    Record,
    Text,
    Unfit,
    each,
    gathered,
    graph_of,
    identity,
    keys_in,
    lines,
    listed,
    loaded,
    numbered,
    objects_in,
    query_in,
    split_in,
    table_of_bindings,
    table_of_result,
    text_in,
    texts_in,
    wikidata_iri,
    wordings,
)
from askgraph.evaluation.questions import GoldQuestion

Keys = frozenset[str]


class Reader:
    """A format whose records are JSON objects: the keys of what a question is made of.

    Attributes:
        splits: The usual parts of the benchmark.
        signs: The keys by which a file is recognised.
        any_signs: Further ones, one of which must be there.
        no_signs: Those of another format that is alike.
        opening: The first character of a file.
        has_lines: Whether each line of a file is a record.
        key: That of the list of records in the file's object, None if the file is the list.
        id_key: That of a record's id.
        text_keys: Those of the English text; the first that has one counts.
        paraphrase_keys: Those of other wordings; the first is asked if there is no text.
        no_texts: What stands for no text, in lower case.
        query_keys: Those of the gold query; the first that has one counts.
        tag_keys: Those of tags.
        entity_keys: Those of the entities that the question is about.
        predicate_keys: Those of the predicates.
        language: The one that is asked for if no other is.
        graph: The one that the questions are about, None if their queries tell.
    """

    splits: ClassVar[tuple[str, ...]] = ()
    signs: ClassVar[Keys] = frozenset()
    any_signs: ClassVar[Keys] = frozenset()
    no_signs: ClassVar[Keys] = frozenset()
    opening: ClassVar[str] = ""
    has_lines: ClassVar[bool] = False
    key: ClassVar[str | None] = None
    id_key: ClassVar[str] = "id"
    text_keys: ClassVar[tuple[str, ...]] = ("question",)
    paraphrase_keys: ClassVar[tuple[str, ...]] = ()
    no_texts: ClassVar[frozenset[str]] = frozenset()
    query_keys: tuple[str, ...] = ("sparql",)
    tag_keys: ClassVar[tuple[str, ...]] = ()
    entity_keys: ClassVar[tuple[str, ...]] = ()
    predicate_keys: ClassVar[tuple[str, ...]] = ()
    language: ClassVar[str | None] = None
    graph: str | None = None

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise a file by the keys of its records."""
        head = head.lstrip()
        keys = keys_in(head.partition("\n")[0] if self.has_lines else head)
        has_signs = self.signs <= keys and self.no_signs.isdisjoint(keys)
        has_any = not self.any_signs or not self.any_signs.isdisjoint(keys)
        return has_signs and has_any and head.startswith(self.opening)

    def read(self, path: Path, *, language: str | None = None) -> Contents:
        """Read all questions, those of an unknown graph with the graph that their queries name."""
        split = split_in(path, self.splits)

        def questions(place: str, record: Record) -> Iterator[Item]:
            question = replace(
                self.question(record), id=identity(record, self.id_key, place), split=split
            )
            return wordings(place, question, self.texts(record), language or self.language)

        contents = gathered(each(self.records(path), questions))
        graph = self.graph or graph_of(question.sparql or "" for question in contents.questions)
        return replace(contents, graph=graph, prefixes=PREFIXES.get(graph or "", {}))

    def records(self, path: Path) -> Iterator[tuple[str, Record | str]]:
        """Yield the records of a file, each with its place."""
        return lines(path) if self.has_lines else listed(path, key=self.key)

    def texts(self, record: Record) -> Sequence[Text]:
        """Return the wordings that can be asked."""
        return [Text("".join(self._worded(record)[:1]), "en")]

    def question(self, record: Record) -> GoldQuestion:
        """Return the question that a record is, without its id and its text."""
        return GoldQuestion(
            "",
            "",
            sparql=next(
                (query for key in self.query_keys if (query := query_in(record, key))), None
            ),
            answers=self.answers(record),
            tags=_collect(record, self.tag_keys),
            entities=tuple(map(self.to_iri, _collect(record, self.entity_keys))),
            predicates=tuple(map(self.to_iri, _collect(record, self.predicate_keys))),
            paraphrases=self._worded(record)[1:],
        )

    def answers(self, record: Record) -> Table | None:
        """Return the stored answers; None for a format without."""
        return None

    def to_iri(self, name: str) -> str:
        """Return the IRI of an entity or predicate as a record names it."""
        return FREEBASE["ns"] + name if self.graph == "freebase" else wikidata_iri(name.strip("<>"))

    def _worded(self, record: Record) -> tuple[str, ...]:
        texts = next((found for key in self.text_keys if (found := texts_in(record, key))), ())
        worded = (*texts, *_collect(record, self.paraphrase_keys))
        return tuple(text for text in worded if text.lower() not in self.no_texts)


def _collect(record: Record, keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(text for key in keys for text in texts_in(record, key))


class ComplexWebQuestions(Reader):
    """ComplexWebQuestions: questions of WebQSP made complex by a program, then told by people.

    Talmor and Berant, "The Web as a Knowledge-Base for Answering Complex Questions", NAACL 2018.
    The question as the program wrote it is kept as a paraphrase, how it was made complex as a tag.
    """

    title: ClassVar[str] = "ComplexWebQuestions"
    splits: ClassVar[tuple[str, ...]] = ("train", "dev", "test")
    signs = frozenset({"webqsp_ID", "machine_question"})
    id_key = "ID"
    paraphrase_keys = ("machine_question",)
    tag_keys = ("compositionality_type",)
    graph = "freebase"

    def answers(self, record: Record) -> Table | None:
        """Return the stored answers, things as IRIs."""
        values = [self._value(answer) for answer in objects_in(record, "answers")]
        return Table.of_json(["x"], [[value] for value in values]) if values else None

    def _value(self, answer: Record) -> str:
        match answer:
            case {"answer_id": str(name)} if name:
                return self.to_iri(name) if name.startswith(("m.", "g.")) else name
            case {"answer": str(text)}:
                return text
            case _:
                raise Unfit("an answer must be an object with 'answer_id' or 'answer', a text")


class DblpQuad(Reader):
    """DBLP-QuAD: 10,000 questions made from templates over the bibliography DBLP.

    Banerjee et al., "DBLP-QuAD: A Question Answering Dataset over the DBLP Scholarly Knowledge
    Graph", BIR 2023 (CC BY 4.0).
    """

    title: ClassVar[str] = "DBLP-QuAD"
    splits: ClassVar[tuple[str, ...]] = ("train", "valid", "test")
    signs = frozenset({"questions", "query_type", "held_out"})
    key = "questions"
    query_keys = ("query",)
    paraphrase_keys = ("paraphrased_question",)
    tag_keys = ("query_type", "template_id")
    entity_keys = ("entities",)
    predicate_keys = ("relations",)
    graph = "dblp"


class SciQa(DblpQuad):
    """SciQA: 2,565 questions over the Open Research Knowledge Graph, by hand and from templates.

    Auer et al., "The SciQA Scientific Question Answering Benchmark for Scholarly Knowledge",
    Scientific Reports 13, 2023 (CC BY 4.0).
    """

    title: ClassVar[str] = "SciQA"
    signs = frozenset({"questions", "query_type"})
    any_signs = frozenset({"query_shape", "auto_generated"})
    graph = "orkg"


class GraspLines(Reader):
    """The lines of JSON in which GRASP's repository keeps many public benchmarks.

    Walter and Bast, "GRASP: Generic Reasoning And SPARQL Generation across Knowledge Graphs", arXiv
    2507.08107, section 4 (the licence is that of each benchmark). `info.invalid` marks questions
    whose query its authors could not use; they are read, with the tag `invalid`.
    """

    title: ClassVar[str] = "GRASP's benchmark lines"
    splits: ClassVar[tuple[str, ...]] = ("train", "val", "dev", "test")
    signs = frozenset({"id", "question", "sparql"})
    any_signs = frozenset({"paraphrases", "info"})
    opening = "{"
    has_lines = True
    paraphrase_keys = ("paraphrases",)

    def question(self, record: Record) -> GoldQuestion:
        """Return a question, tagged if its authors could not use its query."""
        match record.get("info"):
            case {"invalid": True}:
                return replace(super().question(record), tags=("invalid",))
            case _:
                return super().question(record)


class LcQuad(Reader):
    """LC-QuAD 1.0: 5,000 questions from templates, corrected by people, over DBpedia 2016-04.

    Trivedi et al., "LC-QuAD: A Corpus for Complex Question Answering over Knowledge Graphs", ISWC
    2017 (GPL 3.0).
    """

    title: ClassVar[str] = "LC-QuAD 1.0"
    splits: ClassVar[tuple[str, ...]] = ("train", "test")
    signs = frozenset({"corrected_question"})
    id_key = "_id"
    text_keys = ("corrected_question",)
    query_keys = ("sparql_query", "query")  # in the files, and as the project's page says
    graph = "dbpedia"

    def question(self, record: Record) -> GoldQuestion:
        """Return a question, tagged with its template."""
        template = record.get("sparql_template_id", record.get("id"))
        tags = () if template is None else (f"template {template}",)
        return replace(super().question(record), tags=tags)


class LcQuad2(Reader):
    """LC-QuAD 2.0: 30,000 questions from templates, reworded, over Wikidata and DBpedia 2018.

    Dubey et al., "LC-QuAD 2.0: A Large Dataset for Complex Question Answering over Wikidata and
    DBpedia", ISWC 2019. Some questions are null; their paraphrase is asked then.
    """

    title: ClassVar[str] = "LC-QuAD 2.0"
    splits: ClassVar[tuple[str, ...]] = ("train", "test")
    signs = frozenset({"NNQT_question"})
    id_key = "uid"
    paraphrase_keys = ("paraphrased_question",)
    no_texts = frozenset({"n/a", "na", "nan", "none", "null"})
    tag_keys = ("subgraph", "template")

    def __init__(self, graph: Literal["wikidata", "dbpedia"] = "wikidata") -> None:
        self.graph = graph
        self.query_keys = ("sparql_wikidata" if graph == "wikidata" else "sparql_dbpedia18",)


class PatQuestions(Reader):
    """PAT-Questions: questions whose answer changes with the present, over snapshots of Wikidata.

    Meem et al., "PAT-Questions: A Self-Updating Benchmark for Present-Anchored Temporal Question
    Answering", Findings of ACL 2024. A file is one snapshot and one number of hops; the stored
    answers hold for that snapshot only. The files hold no queries.
    """

    title: ClassVar[str] = "PAT-Questions"
    signs = frozenset({"text answers", "answer annotations"})
    id_key = "uniq_id"
    tag_keys = ("template",)
    predicate_keys = ("relations",)
    graph = "wikidata"

    def records(self, path: Path) -> Iterator[tuple[str, Record | str]]:
        """Yield the values of the object."""
        content = loaded(path)
        records = list(content.values()) if isinstance(content, dict) else content
        if not isinstance(records, list):
            raise SetupError(f"{path}: expected an object with a record for each question")
        return numbered(path, records)

    def question(self, record: Record) -> GoldQuestion:
        """Return a question, tagged with the number of its hops."""
        question, subject = super().question(record), record.get("subject")
        name = text_in(subject, "subject") if isinstance(subject, dict) else None
        hops = ("", "single-hop", "multi-hop")[min(2, len(question.predicates))]
        return replace(
            question,
            tags=tuple(filter(None, (hops, *question.tags))),
            entities=(self.to_iri(name),) if name else (),
        )

    def answers(self, record: Record) -> Table | None:
        """Return the annotated answers, entities as IRIs; else the plain texts."""
        names = [
            text_in(annotation, "ID") or text_in(annotation, "Label")
            for annotation in objects_in(record, "answer annotations")
        ]
        if None in names:
            raise Unfit("one of its 'answer annotations' has neither 'ID' nor 'Label'")
        values = list(filter(None, names)) or list(texts_in(record, "text answers"))
        bindings = [
            {"answer": {"type": "uri", "value": self.to_iri(value)}}
            if re.fullmatch(r"Q[0-9]+", value)
            else {"answer": {"type": "literal", "value": value}}
            for value in values
        ]
        return table_of_bindings(bindings) if bindings else None


class Qald(Reader):
    """QALD: questions in many languages over DBpedia or Wikidata (QALD-7, -9, -9-plus, -10).

    Usbeck et al., "QALD-10 – The 10th challenge on question answering over linked data", Semantic
    Web 2023 (QALD-10: MIT licence); Perevalov et al., "QALD-9-plus", ICSC 2022 (CC BY 4.0). The
    Wikidata version of SimpleQuestions is also published in this form.
    """

    title: ClassVar[str] = "QALD 7, 9, 9-plus, 10"
    splits: ClassVar[tuple[str, ...]] = ("train", "test")
    signs = frozenset({"questions", "question", "language", "string"})
    no_signs = frozenset({"query_type"})
    key = "questions"
    query_keys = ("query",)
    tag_keys = ("answertype",)

    def question(self, record: Record) -> GoldQuestion:
        """Return a question with its flags as tags; out of scope, it has no query."""
        question = replace(super().question(record), paraphrases=())
        flags = [key for key in ("aggregation", "onlydbo", "hybrid") if record.get(key) is True]
        question = replace(question, tags=(*question.tags, *flags))
        out_of_scope = question.sparql == "OUT OF SCOPE"
        return replace(question, sparql=None, unanswerable=True) if out_of_scope else question

    def texts(self, record: Record) -> Sequence[Text]:
        """Return the wordings in all languages."""
        return [
            Text(text_in(wording, "string") or "", text_in(wording, "language"))
            for wording in objects_in(record, "question")
        ]

    def answers(self, record: Record) -> Table | None:
        """Return the table of the only result, or of several with the same variables."""
        tables = [table_of_result(result) for result in objects_in(record, "answers")]
        if len(tables) < 2:
            return tables[0] if tables else None
        variables = tables[0].variables
        if any(table.boolean is not None or table.variables != variables for table in tables):
            raise Unfit("it has several stored answers that do not go together")
        rows = tuple(row for table in tables for row in table.rows)
        terms = tuple(row for table in tables for row in table.terms)
        return Table(variables, rows, terms=terms if len(terms) == len(rows) else ())


class Rubq(Reader):
    """RuBQ 1.0 and 2.0: Russian quiz questions over Wikidata, with a machine's English version.

    Korablinov and Braslavski, "RuBQ: A Russian Dataset for Question Answering over Wikidata", ISWC
    2020; Rybin et al., "RuBQ 2.0", ESWC 2021 (CC BY-SA 4.0). Questions tagged `no_answer` have none
    in Wikidata.
    """

    title: ClassVar[str] = "RuBQ 1.0, 2.0"
    splits: ClassVar[tuple[str, ...]] = ("dev", "test")
    signs = frozenset({"uid", "question_text", "question_uris"})
    id_key = "uid"
    query_keys = ("query",)
    tag_keys = ("tags",)
    entity_keys = ("question_uris",)
    predicate_keys = ("question_props",)
    language = "ru"
    graph = "wikidata"

    def question(self, record: Record) -> GoldQuestion:
        """Return a question; one without an answer in Wikidata is unanswerable."""
        question = super().question(record)
        return replace(question, unanswerable=bool({"no_answer", "no-answer"} & {*question.tags}))

    def texts(self, record: Record) -> Sequence[Text]:
        """Return the Russian text and the English one."""
        texts = (("question_text", "ru"), ("question_eng", "en"))
        return [Text(text_in(record, key) or "", language) for key, language in texts]

    def answers(self, record: Record) -> Table | None:
        """Return the stored answers."""
        bindings = [{"answer": answer} for answer in objects_in(record, "answers")]
        return table_of_bindings(bindings) if bindings else None


class SimpleDbpediaQa(Reader):
    """SimpleDBpediaQA: the questions of SimpleQuestions about one fact that DBpedia has.

    Azmy et al., "Farewell Freebase: Migrating the SimpleQuestions Dataset to DBpedia", COLING 2018.
    A fact may be said by several predicates; the query takes what any of them gives.
    """

    title: ClassVar[str] = "SimpleDBpediaQA"
    splits: ClassVar[tuple[str, ...]] = ("train", "valid", "test")
    signs = frozenset({"Questions", "Subject", "PredicateList"})
    key = "Questions"
    id_key = "ID"
    text_keys = ("Query",)
    graph = "dbpedia"

    def question(self, record: Record) -> GoldQuestion:
        """Return a question with the query that its facts make."""
        subject, facts = text_in(record, "Subject") or "", objects_in(record, "PredicateList")
        if not _IRI.fullmatch(subject) or not facts:
            raise Unfit("it needs 'Subject', an IRI, and 'PredicateList', a list that is not empty")
        patterns = [_fact_pattern(subject, fact) for fact in facts]
        union = " UNION ".join(f"{{ {pattern} }}" for pattern in patterns)
        return GoldQuestion(
            "",
            "",
            sparql=f"SELECT DISTINCT ?x WHERE {{ {union if len(facts) > 1 else patterns[0]} }}",
            entities=(subject,),
            predicates=tuple(dict.fromkeys(str(fact.get("Predicate")) for fact in facts)),
        )


_IRI = re.compile(r"[a-z]+:[^\x00-\x20<>\"{}|\\^`]+")


def _fact_pattern(subject: str, fact: Record) -> str:
    """Return the pattern that a fact makes with its subject."""
    predicate, direction = fact.get("Predicate"), fact.get("Direction")
    kind = fact.get("Constraint")
    if not (isinstance(predicate, str) and _IRI.fullmatch(predicate)):
        raise Unfit(f"'Predicate' must be an IRI, not {predicate!r}")
    if direction not in ("forward", "backward"):
        raise Unfit(f"'Direction' is forward or backward, not {direction!r}")
    if not (kind is None or (isinstance(kind, str) and _IRI.fullmatch(kind))):
        raise Unfit(f"'Constraint' must be the IRI of a class or null, not {kind!r}")
    ends = (f"<{subject}>", "?x") if direction == "forward" else ("?x", f"<{subject}>")
    pattern = f"{ends[0]} <{predicate}> {ends[1]} ."
    return f"{pattern} ?x a <{kind}> ." if kind else pattern


class Spinach(Reader):
    """SPINACH: 320 hard questions that people asked for queries over Wikidata, with their queries.

    Liu et al., "SPINACH: SPARQL-Based Information Navigation for Challenging Real-World Questions",
    Findings of EMNLP 2024 (Apache-2.0). The queries leave Wikidata's prefixes undeclared, and some
    use what only its own query service understands, such as the label service and named subqueries.
    """

    title: ClassVar[str] = "SPINACH"
    splits: ClassVar[tuple[str, ...]] = ("dev", "test")
    signs = frozenset({"id", "title", "url", "question", "sparql"})
    opening = "["
    graph = "wikidata"


class WebQsp(Reader):
    """WebQSP: questions that people asked a search engine, with queries and answers over Freebase.

    Yih et al., "The Value of Semantic Parse Labeling for Knowledge Base Question Answering", ACL
    2016. A question may have several parses; the first that has a query or answers counts.
    """

    title: ClassVar[str] = "WebQSP"
    splits: ClassVar[tuple[str, ...]] = ("train", "test")
    signs = frozenset({"Questions", "RawQuestion", "Parses"})
    key = "Questions"
    id_key = "QuestionId"
    text_keys = ("RawQuestion", "ProcessedQuestion")
    query_keys = ("Sparql",)
    entity_keys = ("TopicEntityMid",)
    predicate_keys = ("InferentialChain",)
    graph = "freebase"

    def question(self, record: Record) -> GoldQuestion:
        """Return a question with the query and the answers of its first parse."""
        parses = objects_in(record, "Parses")
        parse = next((p for p in parses if p.get("Sparql") or p.get("Answers")), {})
        return super().question(parse)

    def answers(self, record: Record) -> Table | None:
        """Return the stored answers of a parse, things as IRIs."""
        rows = []
        for answer in objects_in(record, "Answers"):
            if not isinstance(value := answer.get("AnswerArgument"), str):
                raise Unfit("an answer must be an object with 'AnswerArgument', a text")
            rows.append([self.to_iri(value) if answer.get("AnswerType") == "Entity" else value])
        return Table.of_json(["x"], rows) if rows else None


class WikiWebQuestions(Reader):
    """WikiWebQuestions: the questions of WebQuestionsSP that Wikidata can answer, with results.

    Xu et al., "Fine-tuned LLMs Know More, Hallucinate Less with Few-Shot Sequence-to-Sequence
    Semantic Parsing over Wikidata", EMNLP 2023.
    """

    title: ClassVar[str] = "WikiWebQuestions"
    splits: ClassVar[tuple[str, ...]] = ("train", "dev", "test")
    signs = frozenset({"sparql"})
    any_signs = frozenset({"utterance", "results"})
    no_signs = frozenset({"title"})
    opening = "["
    text_keys = ("utterance", "question")
    graph = "wikidata"

    def answers(self, record: Record) -> Table | None:
        """Return the stored results."""
        match record.get("results"):
            case None:
                return None
            case bool(truth):
                return Table.of_boolean(truth)
            case list(bindings):
                return table_of_bindings(bindings)
            case _:
                raise Unfit("'results' must be a list of solutions or a boolean")
