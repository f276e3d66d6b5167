"""Benchmarks whose records are JSON objects, each of them a question: what is where in a record."""
# ruff: noqa: E501

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    answers_in,
    each,
    gathered,
    graph_of,
    identity,
    keys_in,
    lines,
    listed,
    loaded,
    numbered,
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


class Reader(ABC):
    """A format whose records are JSON objects.

    Attributes:
        signs: The keys by which a file is recognised.
        key: That of the list of records in the file's object, None if the file is the list.
        id_key: That of a record's id.
        text_keys: Those of the English text; the first that has one counts.
        language: The one that is asked for if no other is.
        graph: The one that the questions are about, None if their queries tell.
    """

    splits: ClassVar[tuple[str, ...]] = ()
    signs: ClassVar[frozenset[str]] = frozenset()
    key: ClassVar[str | None] = None
    id_key: ClassVar[str] = "id"
    text_keys: ClassVar[tuple[str, ...]] = ("question",)
    language: ClassVar[str | None] = None
    graph: str | None = None

    @abstractmethod
    def question(self, id: str, record: Record) -> GoldQuestion:
        """Return the question that a record is, without its text."""

    def texts(self, record: Record) -> Sequence[Text]:
        """Return the wordings of a record."""
        found = (text for key in self.text_keys if (text := text_in(record, key)))
        return [Text(next(found, ""), "en")]

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise a file by the keys of its records."""
        return self.signs <= keys_in(head)

    def records(self, path: Path) -> Iterator[tuple[str, Record | str]]:
        """Yield the records of a file, each with its place."""
        return listed(path, key=self.key)

    def read(self, path: Path, *, language: str | None = None) -> Contents:
        """Read all questions, those of an unknown graph with the graph that their queries name."""
        split = split_in(path, self.splits)

        def questions(place: str, record: Record) -> Iterator[Item]:
            question = self.question(identity(record, self.id_key, place), record)
            wanted = language or self.language
            return wordings(place, replace(question, split=split), self.texts(record), wanted)

        contents = gathered(each(self.records(path), questions))
        graph = self.graph or graph_of(question.sparql or "" for question in contents.questions)
        return replace(contents, graph=graph, prefixes=PREFIXES.get(graph or "", {}))


class ComplexWebQuestions(Reader):
    """ComplexWebQuestions: questions of WebQSP made complex by a program, then told by people.

    Talmor and Berant, "The Web as a Knowledge-Base for Answering Complex Questions", NAACL 2018. The
    question as the program wrote it is kept as a paraphrase, how it was made complex as a tag.

    A sample, `ComplexWebQuestions_sample_dev.json`:

        [{"ID": "WebQTest-90001_0a1b", "webqsp_ID": "WebQTest-90001",
          "question": "What is spoken where Ada Example was born?",
          "machine_question": "what do people in the place where Ada Example was born speak",
          "compositionality_type": "composition",
          "sparql": "SELECT ?x { ns:m.0exam3 ns:people.person.place_of_birth/ns:p.spoken ?x }",
          "answers": [{"answer_id": "m.0exam2", "answer": "Exemplish", "aliases": []}]}]
    """

    title: ClassVar[str] = "ComplexWebQuestions"
    splits: ClassVar[tuple[str, ...]] = ("train", "dev", "test")
    signs = frozenset({"webqsp_ID", "machine_question"})
    id_key = "ID"
    graph = "freebase"

    def question(self, id: str, record: Record) -> GoldQuestion:
        """Return a question with its query and stored answers."""
        return GoldQuestion(
            id,
            "",
            sparql=query_in(record, "sparql"),
            answers=answers_in(record, "answers", self._value),
            tags=texts_in(record, "compositionality_type"),
            paraphrases=texts_in(record, "machine_question"),
        )

    @staticmethod
    def _value(answer: object) -> str:
        match answer:
            case Mapping() if isinstance(name := answer.get("answer_id"), str) and name:
                return FREEBASE["ns"] + name if name.startswith(("m.", "g.")) else name
            case Mapping() if isinstance(text := answer.get("answer"), str):
                return text
            case _:
                raise Unfit("an answer must be an object with 'answer_id' or 'answer', a text")


class DblpQuad(Reader):
    """DBLP-QuAD: 10,000 questions made from templates over the bibliography DBLP.

    Banerjee et al., "DBLP-QuAD: A Question Answering Dataset over the DBLP Scholarly Knowledge Graph",
    BIR 2023 (CC BY 4.0).

    A sample, `questions.json`:

        {"questions": [{
           "id": "Q90001", "query_type": "SINGLE_FACT",
           "question": {"string": "Which papers did Ada Example write?"},
           "paraphrased_question": {"string": "List the publications of Ada Example."},
           "query": {"sparql": "SELECT DISTINCT ?answer WHERE { ?answer <https://dblp.org/rdf/schema#authoredBy> <https://dblp.org/pid/00/90001> }"},
           "template_id": "TC01",
           "entities": ["<https://dblp.org/pid/00/90001>"],
           "relations": ["<https://dblp.org/rdf/schema#authoredBy>"],
           "temporal": false, "held_out": false}]}
    """

    title: ClassVar[str] = "DBLP-QuAD"
    splits: ClassVar[tuple[str, ...]] = ("train", "valid", "test")
    signs = frozenset({"questions", "query_type", "held_out"})
    key = "questions"
    graph = "dblp"

    def question(self, id: str, record: Record) -> GoldQuestion:
        """Return a question; query type and template are tags."""
        return GoldQuestion(
            id,
            "",
            sparql=query_in(record),
            tags=(*texts_in(record, "query_type"), *texts_in(record, "template_id")),
            entities=tuple(iri.strip("<>") for iri in texts_in(record, "entities")),
            predicates=tuple(iri.strip("<>") for iri in texts_in(record, "relations")),
            paraphrases=(
                *_strings(record.get("question"))[1:],
                *_strings(record.get("paraphrased_question")),
            ),
        )

    def texts(self, record: Record) -> Sequence[Text]:
        """Return the first wording."""
        return [Text("".join(_strings(record.get("question"))[:1]), "en")]


class SciQa(DblpQuad):
    """SciQA: 2,565 questions over the Open Research Knowledge Graph, by hand and from templates.

    Auer et al., "The SciQA Scientific Question Answering Benchmark for Scholarly Knowledge",
    Scientific Reports 13, 2023 (CC BY 4.0).

    A sample, `sciqa_sample_test.json`:

        {"questions": [{
           "id": "AQ90001", "query_type": "Factoid",
           "question": {"string": "Which models were tried on the Example data set?"},
           "paraphrased_question": [],
           "query": {"sparql": "SELECT DISTINCT ?model WHERE { ?model a orkgc:Model ; orkgp:HAS_DATASET ?data . ?data rdfs:label \\"Example\\" }"},
           "template_id": "T01", "auto_generated": true, "query_shape": "Tree",
           "query_class": "WHICH-WHAT", "number_of_patterns": 3}]}
    """

    title: ClassVar[str] = "SciQA"
    graph = "orkg"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by the shape of a query and whether it was generated."""
        keys = keys_in(head)
        made = {"query_shape", "auto_generated"} & keys
        return {"questions", "query_type"} <= keys and bool(made)


_ESCAPED = re.compile(r"\\u([0-9A-Fa-f]{4})")


def _strings(value: object) -> tuple[str, ...]:
    """Return the texts of a text, of an object with `string`, or of a list of either."""
    match value:
        case None:
            return ()
        case dict():
            return _strings(text_in(value, "string"))
        case str(text):
            # The files hold `\\u00ED` where `\u00ED` was meant.
            plain = _ESCAPED.sub(lambda escape: chr(int(escape[1], 16)), text.strip())
            return (plain,) if plain else ()
        case list(several):
            return tuple(string for one in several for string in _strings(one))
        case _:
            raise Unfit("its question is neither text nor an object with 'string'")


class GraspLines(Reader):
    """The lines of JSON in which GRASP's repository keeps many public benchmarks.

    Walter and Bast, "GRASP: Generic Reasoning And SPARQL Generation across Knowledge Graphs", arXiv
    2507.08107, section 4 (the licence is that of each benchmark). `info.invalid` marks questions whose query
    its authors could not use; they are read, with the tag `invalid`.

    A sample, `sample_test.jsonl`:

        {"id": "test_0", "question": "Which lakes lie in Exampleland?", "sparql": "PREFIX wd: <http://www.wikidata.org/entity/> PREFIX wdt: <http://www.wikidata.org/prop/direct/> SELECT ?lake { ?lake wdt:P31 wd:Q23397 ; wdt:P17 wd:Q1000003 }", "paraphrases": ["What are the lakes of Exampleland?"], "info": {"invalid": false}}
    """

    title: ClassVar[str] = "GRASP's benchmark lines"
    splits: ClassVar[tuple[str, ...]] = ("train", "val", "dev", "test")

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by a first line with paraphrases or info beside question and query."""
        first = head.lstrip().partition("\n")[0]
        keys = keys_in(first)
        more = {"paraphrases", "info"} & keys
        return first.startswith("{") and {"id", "question", "sparql"} <= keys and bool(more)

    def records(self, path: Path) -> Iterator[tuple[str, Record | str]]:
        """Yield the object of each line."""
        return lines(path)

    def question(self, id: str, record: Record) -> GoldQuestion:
        """Return a question, tagged if its authors could not use its query."""
        info = record.get("info")
        return GoldQuestion(
            id,
            "",
            sparql=query_in(record, "sparql"),
            tags=("invalid",) if isinstance(info, dict) and info.get("invalid") is True else (),
            paraphrases=texts_in(record, "paraphrases"),
        )


class LcQuad(Reader):
    """LC-QuAD 1.0: 5,000 questions made from templates and corrected by people, over DBpedia 2016-04.

    Trivedi et al., "LC-QuAD: A Corpus for Complex Question Answering over Knowledge Graphs", ISWC
    2017 (GPL 3.0).

    A sample, `lcquad_sample_train.json`:

        [{"_id": "0001",
          "corrected_question": "Which lakes lie in Exampleland?",
          "intermediary_question": "What are the <lakes> whose <country> is <Exampleland>?",
          "sparql_query": "SELECT DISTINCT ?uri WHERE { ?uri <http://dbpedia.org/ontology/country> <http://dbpedia.org/resource/Exampleland> }",
          "sparql_template_id": 301}]
    """

    title: ClassVar[str] = "LC-QuAD 1.0"
    splits: ClassVar[tuple[str, ...]] = ("train", "test")
    signs = frozenset({"corrected_question"})
    id_key = "_id"
    text_keys = ("corrected_question",)
    graph = "dbpedia"

    def question(self, id: str, record: Record) -> GoldQuestion:
        """Return a question, tagged with its template."""
        template = record.get("sparql_template_id", record.get("id"))
        return GoldQuestion(
            id,
            "",
            # The project's page calls the key `query`, its files `sparql_query`.
            sparql=query_in(record, "sparql_query") or query_in(record),
            tags=() if template is None else (f"template {template}",),
        )


@dataclass(frozen=True)
class LcQuad2(Reader):
    """LC-QuAD 2.0: 30,000 questions made from templates and reworded, over Wikidata and DBpedia 2018.

    Dubey et al., "LC-QuAD 2.0: A Large Dataset for Complex Question Answering over Wikidata and
    DBpedia", ISWC 2019. Some questions are null; their paraphrase is asked then.

    A sample, `lcquad2_sample_train.json`:

        [{"uid": 90001,
          "NNQT_question": "What is the {population} of {Exampletown}?",
          "question": "How many people live in Exampletown?",
          "paraphrased_question": "What is the number of inhabitants of Exampletown?",
          "sparql_wikidata": "SELECT ?answer WHERE { wd:Q1000001 wdt:P1082 ?answer }",
          "sparql_dbpedia18": "SELECT ?answer WHERE { <http://wikidata.dbpedia.org/resource/Q1000001> <http://dbpedia.org/ontology/populationTotal> ?answer }",
          "template": "E REF ?F", "template_index": 65, "subgraph": "simple question right"}]
    """

    title: ClassVar[str] = "LC-QuAD 2.0"
    splits: ClassVar[tuple[str, ...]] = ("train", "test")
    signs = frozenset({"NNQT_question"})
    id_key = "uid"
    graph: Literal["wikidata", "dbpedia"] = "wikidata"

    def question(self, id: str, record: Record) -> GoldQuestion:
        """Return a question with the query over one of its two graphs."""
        queries = {"wikidata": "sparql_wikidata", "dbpedia": "sparql_dbpedia18"}
        return GoldQuestion(
            id,
            "",
            sparql=query_in(record, queries[self.graph]),
            tags=(*texts_in(record, "subgraph"), *texts_in(record, "template")),
            paraphrases=self._worded(record)[1:],
        )

    def texts(self, record: Record) -> Sequence[Text]:
        """Return the question, or its paraphrase if that is null."""
        return [Text("".join(self._worded(record)[:1]), "en")]

    @staticmethod
    def _worded(record: Record) -> tuple[str, ...]:
        no_text = {"n/a", "na", "nan", "none", "null"}
        texts = (*texts_in(record, "question"), *texts_in(record, "paraphrased_question"))
        return tuple(text for text in texts if text.lower() not in no_text)


class PatQuestions(Reader):
    """PAT-Questions: questions whose answer changes with the present, over snapshots of Wikidata.

    Meem et al., "PAT-Questions: A Self-Updating Benchmark for Present-Anchored Temporal Question
    Answering", Findings of ACL 2024. A file is one snapshot and one number of hops; the stored answers
    hold for that snapshot only. The files hold no queries.

    A sample, `PAT-singlehop.json`:

        {"Which team does Ada Example play for currently?": {
           "question": "Which team does Ada Example play for currently?",
           "subject": {"subject": "Q1000005", "subLabel": "Ada Example"},
           "text answers": ["Exampletown United"],
           "answer annotations": [{"ID": "Q1000006", "Label": "Exampletown United"}],
           "relations": ["P54"],
           "template": "Which team does {subject} play for currently?", "uniq_id": 1}}
    """

    title: ClassVar[str] = "PAT-Questions"
    signs = frozenset({"text answers", "answer annotations"})
    id_key = "uniq_id"
    graph = "wikidata"

    def records(self, path: Path) -> Iterator[tuple[str, Record | str]]:
        """Yield the values of the object."""
        content = loaded(path)
        records = list(content.values()) if isinstance(content, dict) else content
        if not isinstance(records, list):
            raise SetupError(f"{path}: expected an object with a record for each question")
        return numbered(path, records)

    def question(self, id: str, record: Record) -> GoldQuestion:
        """Return a question with the answers of this snapshot."""
        relations = texts_in(record, "relations")
        hops = () if not relations else ("single-hop",) if len(relations) == 1 else ("multi-hop",)
        template = text_in(record, "template")
        subject = record.get("subject")
        name = text_in(subject, "subject") if isinstance(subject, dict) else None
        return GoldQuestion(
            id,
            "",
            sparql=query_in(record, "sparql"),
            answers=self._answers(record),
            tags=(*hops, *([template] if template else [])),
            entities=(wikidata_iri(name),) if name else (),
            predicates=tuple(map(wikidata_iri, relations)),
        )

    def _answers(self, record: Record) -> Table | None:
        """Return the annotated answers, entities as IRIs; else the plain texts."""
        annotations = record.get("answer annotations")
        if not isinstance(annotations, list | None):
            raise Unfit("'answer annotations' must be a list")
        values = [self._value(annotation) for annotation in annotations or []]
        texts = texts_in(record, "text answers")
        values = values or [{"type": "literal", "value": text} for text in texts]
        return table_of_bindings([{"answer": value} for value in values]) if values else None

    @staticmethod
    def _value(annotation: object) -> dict[str, str]:
        if not isinstance(annotation, dict):
            raise Unfit("one of its 'answer annotations' is no object")
        name = text_in(annotation, "ID") or text_in(annotation, "Label")
        if name is None:
            raise Unfit("one of its 'answer annotations' has neither 'ID' nor 'Label'")
        if re.fullmatch(r"Q[0-9]+", name):
            return {"type": "uri", "value": wikidata_iri(name)}
        return {"type": "literal", "value": name}


class Qald(Reader):
    """QALD: questions in many languages over DBpedia or Wikidata (QALD-7, -9, -9-plus, -10).

    Usbeck et al., "QALD-10 – The 10th challenge on question answering over linked data", Semantic Web
    2023 (QALD-10: MIT licence); Perevalov et al., "QALD-9-plus", ICSC 2022 (CC BY 4.0). The Wikidata
    version of SimpleQuestions is also published in this form.

    A sample, `qald_sample_test.json`:

        {"dataset": {"id": "qald-sample"},
         "questions": [{
           "id": "7", "answertype": "resource", "aggregation": false,
           "question": [
             {"language": "en", "string": "Which river crosses Exampletown?", "keywords": "river"},
             {"language": "de", "string": "Welcher Fluss fließt durch Exampletown?"},
             {"language": "de", "string": "Welcher Fluss durchquert Exampletown?"}],
           "query": {"sparql": "SELECT ?uri WHERE { wd:Q1000001 wdt:P206 ?uri }"},
           "answers": [{
             "head": {"vars": ["uri"]},
             "results": {"bindings": [
               {"uri": {"type": "uri", "value": "http://www.wikidata.org/entity/Q1000002"}}]}}]}]}
    """

    title: ClassVar[str] = "QALD 7, 9, 9-plus, 10"
    splits: ClassVar[tuple[str, ...]] = ("train", "test")
    signs = frozenset({"questions", "question", "language", "string"})
    key = "questions"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by a question that is a list of strings with their languages."""
        return super().recognises(path, head) and "query_type" not in keys_in(head)

    def question(self, id: str, record: Record) -> GoldQuestion:
        """Return a question with its stored answers; out of scope, it has no query."""
        query = query_in(record)
        out_of_scope = query == "OUT OF SCOPE"
        kind = text_in(record, "answertype")
        flags = (one for one in ("aggregation", "onlydbo", "hybrid") if record.get(one) is True)
        return GoldQuestion(
            id,
            "",
            sparql=None if out_of_scope else query,
            answers=self._answers(record.get("answers")),
            tags=(*([kind] if kind else []), *flags),
            unanswerable=out_of_scope,
        )

    def texts(self, record: Record) -> Sequence[Text]:
        """Return the wordings in all languages."""
        value = record.get("question")
        if not isinstance(value, list):
            raise Unfit("'question' must be a list of objects with 'language' and 'string'")
        if not all(isinstance(wording, dict) for wording in value):
            raise Unfit("a wording in 'question' is no object")
        return [Text(text_in(one, "string") or "", text_in(one, "language")) for one in value]

    @staticmethod
    def _answers(value: object) -> Table | None:
        """Return the table of the only result, or of several with the same variables."""
        if not isinstance(value, list | None):
            raise Unfit("'answers' must be a list")
        tables = [table_of_result(result) for result in value or []]
        if len(tables) < 2:
            return tables[0] if tables else None
        variables = tables[0].variables
        if any(table.boolean is not None or table.variables != variables for table in tables):
            raise Unfit("it has several stored answers that do not go together")
        rows = tuple(row for table in tables for row in table.rows)
        terms = tuple(row for table in tables for row in table.terms)
        return Table(variables, rows, terms=terms if len(terms) == len(rows) else ())


class Rubq(Reader):
    """RuBQ 1.0 and 2.0: Russian quiz questions over Wikidata, each with a machine's English version.

    Korablinov and Braslavski, "RuBQ: A Russian Dataset for Question Answering over Wikidata", ISWC
    2020; Rybin et al., "RuBQ 2.0", ESWC 2021 (CC BY-SA 4.0). Questions tagged `no_answer` have none in
    Wikidata.

    A sample, `RuBQ_sample_dev.json`:

        [{"uid": 90001, "question_text": "В какой стране находится Примерград?",
          "question_eng": "In which country is Exampletown?", "answer_text": "Примерландия",
          "query": "SELECT ?answer WHERE { wd:Q1000001 wdt:P17 ?answer }",
          "question_uris": ["http://www.wikidata.org/entity/Q1000001"], "question_props": ["wdt:P17"],
          "answers": [{"type": "uri", "label": "Примерландия",
                       "value": "http://www.wikidata.org/entity/Q1000003"}],
          "tags": ["1-hop"], "RuBQ_version": "1.0"},
         {"uid": 90002, "question_text": "Кто придумал Примерград?", "question_eng": null,
          "answer_text": "Никто", "query": null, "question_uris": [], "answers": [],
          "tags": ["no_answer"]}]
    """

    title: ClassVar[str] = "RuBQ 1.0, 2.0"
    splits: ClassVar[tuple[str, ...]] = ("dev", "test")
    signs = frozenset({"uid", "question_text", "question_uris"})
    id_key = "uid"
    language = "ru"
    graph = "wikidata"

    def question(self, id: str, record: Record) -> GoldQuestion:
        """Return a question; one without an answer in Wikidata is unanswerable."""
        tags = texts_in(record, "tags")
        answers = record.get("answers")
        if not isinstance(answers, list | None):
            raise Unfit("'answers' must be a list")
        return GoldQuestion(
            id,
            "",
            sparql=query_in(record),
            answers=table_of_bindings([{"answer": one} for one in answers]) if answers else None,
            tags=tags,
            unanswerable=not {"no_answer", "no-answer"}.isdisjoint(tags),
            entities=texts_in(record, "question_uris"),
            predicates=tuple(map(wikidata_iri, texts_in(record, "question_props"))),
        )

    def texts(self, record: Record) -> Sequence[Text]:
        """Return the Russian text and the English one."""
        texts = (("question_text", "ru"), ("question_eng", "en"))
        return [Text(text_in(record, key) or "", language) for key, language in texts]


class SimpleDbpediaQa(Reader):
    """SimpleDBpediaQA: the questions of SimpleQuestions about one fact that DBpedia has.

    Azmy et al., "Farewell Freebase: Migrating the SimpleQuestions Dataset to DBpedia", COLING 2018. A
    fact may be said by several predicates; the query takes what any of them gives.

    A sample, `simpledbpediaqa_sample_test.json`:

        {"Dataset": "SimpleDBpediaQA", "Split": "test", "Questions": [{
          "ID": "90001", "Query": "who wrote the example book",
          "Subject": "http://dbpedia.org/resource/Example_(book)",
          "PredicateList": [{"Predicate": "http://dbpedia.org/ontology/author",
                             "Direction": "forward", "Constraint": null}]}]}
    """

    title: ClassVar[str] = "SimpleDBpediaQA"
    splits: ClassVar[tuple[str, ...]] = ("train", "valid", "test")
    signs = frozenset({"Questions", "Subject", "PredicateList"})
    key = "Questions"
    id_key = "ID"
    text_keys = ("Query",)
    graph = "dbpedia"

    def question(self, id: str, record: Record) -> GoldQuestion:
        """Return a question with the query that its facts make."""
        subject, facts = text_in(record, "Subject") or "", record.get("PredicateList")
        if not _IRI.fullmatch(subject) or not isinstance(facts, list) or not facts:
            raise Unfit("it needs 'Subject', an IRI, and 'PredicateList', a list that is not empty")
        patterns = [self._pattern(subject, fact) for fact in facts]
        predicates = dict.fromkeys(str(fact.get("Predicate")) for fact in facts)
        union = " UNION ".join(f"{{ {pattern} }}" for pattern in patterns)
        return GoldQuestion(
            id,
            "",
            sparql=f"SELECT DISTINCT ?x WHERE {{ {union if len(facts) > 1 else patterns[0]} }}",
            entities=(subject,),
            predicates=tuple(predicates),
        )

    @staticmethod
    def _pattern(subject: str, fact: object) -> str:
        """Return the pattern that a fact makes with the subject."""
        if not isinstance(fact, Mapping):
            raise Unfit("a predicate of 'PredicateList' must be an object")
        predicate, wanted = fact.get("Predicate"), fact.get("Constraint")
        if not (isinstance(predicate, str) and _IRI.fullmatch(predicate)):
            raise Unfit(f"'Predicate' must be an IRI, not {predicate!r}")
        match fact.get("Direction"):
            case "forward":
                pattern = f"<{subject}> <{predicate}> ?x ."
            case "backward":
                pattern = f"?x <{predicate}> <{subject}> ."
            case other:
                raise Unfit(f"'Direction' is forward or backward, not {other!r}")
        if wanted is None:
            return pattern
        if not (isinstance(wanted, str) and _IRI.fullmatch(wanted)):
            raise Unfit(f"'Constraint' must be the IRI of a class or null, not {wanted!r}")
        return f"{pattern} ?x a <{wanted}> ."


_IRI = re.compile(r"[a-z]+:[^\x00-\x20<>\"{}|\\^`]+")


class Spinach(Reader):
    """SPINACH: 320 hard questions that people asked for queries over Wikidata, with their queries.

    Liu et al., "SPINACH: SPARQL-Based Information Navigation for Challenging Real-World Questions",
    Findings of EMNLP 2024 (Apache-2.0). The queries leave Wikidata's prefixes undeclared, and some use
    what only its own query service understands, such as the label service and named subqueries.

    A sample, `spinach_sample_dev.json`:

        [{"id": "dev_900", "title": "Lighthouses by height",
          "url": "https://www.wikidata.org/wiki/Wikidata:Request_a_query/Archive/2020/01",
          "question": "Which lighthouses are taller than 50 metres, and how tall are they?",
          "sparql": "SELECT ?item ?height { ?item wdt:P31 wd:Q39715 ; wdt:P2048 ?height . FILTER(?height > 50) }"}]
    """

    title: ClassVar[str] = "SPINACH"
    splits: ClassVar[tuple[str, ...]] = ("dev", "test")
    signs = frozenset({"id", "title", "url", "question", "sparql"})
    graph = "wikidata"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by the title and page of the request beside question and query."""
        return head.lstrip().startswith("[") and super().recognises(path, head)

    def question(self, id: str, record: Record) -> GoldQuestion:
        """Return a question with its query."""
        return GoldQuestion(id, "", sparql=query_in(record, "sparql"))


class WebQsp(Reader):
    """WebQSP: questions that people asked a search engine, with queries and answers over Freebase.

    Yih et al., "The Value of Semantic Parse Labeling for Knowledge Base Question Answering", ACL 2016.
    A question may have several parses; the first that has a query or answers counts.

    A sample, `webqsp_sample_test.json`:

        {"Version": "1.0", "Questions": [{
          "QuestionId": "WebQTest-90001",
          "RawQuestion": "what do people in exampleland speak?",
          "Parses": [{"ParseId": "WebQTest-90001.P0",
                      "Sparql": "SELECT ?x { ns:m.0exam1 ns:location.country.languages_spoken ?x }",
                      "TopicEntityMid": "m.0exam1",
                      "InferentialChain": ["location.country.languages_spoken"],
                      "Answers": [{"AnswerType": "Entity", "AnswerArgument": "m.0exam2"}]}]}]}
    """

    title: ClassVar[str] = "WebQSP"
    splits: ClassVar[tuple[str, ...]] = ("train", "test")
    signs = frozenset({"Questions", "RawQuestion", "Parses"})
    key = "Questions"
    id_key = "QuestionId"
    text_keys = ("RawQuestion", "ProcessedQuestion")
    graph = "freebase"

    def question(self, id: str, record: Record) -> GoldQuestion:
        """Return a question with the query and the answers of its first parse."""
        parses = record.get("Parses") or []
        if not isinstance(parses, list) or not all(isinstance(one, dict) for one in parses):
            raise Unfit("'Parses' must be a list of objects")
        parse: Record = next((p for p in parses if p.get("Sparql") or p.get("Answers")), {})
        topic = text_in(parse, "TopicEntityMid")
        return GoldQuestion(
            id,
            "",
            sparql=query_in(parse, "Sparql"),
            answers=answers_in(parse, "Answers", self._value),
            entities=(FREEBASE["ns"] + topic,) if topic else (),
            predicates=tuple(FREEBASE["ns"] + n for n in texts_in(parse, "InferentialChain")),
        )

    @staticmethod
    def _value(answer: object) -> str:
        match answer:
            case Mapping() if isinstance(value := answer.get("AnswerArgument"), str):
                return FREEBASE["ns"] + value if answer.get("AnswerType") == "Entity" else value
            case _:
                raise Unfit("an answer must be an object with 'AnswerArgument', a text")


class WikiWebQuestions(Reader):
    """WikiWebQuestions: the questions of WebQuestionsSP that Wikidata can answer, with stored results.

    Xu et al., "Fine-tuned LLMs Know More, Hallucinate Less with Few-Shot Sequence-to-Sequence Semantic
    Parsing over Wikidata", EMNLP 2023.

    A sample, `wikiwebquestions_sample_dev.json`:

        [{"id": "WebQTrn-90001",
          "utterance": "what is the highest mountain of exampleland?",
          "sparql": "SELECT DISTINCT ?x WHERE { wd:Q1000003 wdt:P610 ?x. }",
          "results": [{"x": {"type": "uri", "value": "http://www.wikidata.org/entity/Q1000004"}}]}]
    """

    title: ClassVar[str] = "WikiWebQuestions"
    splits: ClassVar[tuple[str, ...]] = ("train", "dev", "test")
    text_keys = ("utterance", "question")
    graph = "wikidata"

    def recognises(self, path: Path, head: str) -> bool:
        """Recognise it by an utterance with its query, or a question with query and results."""
        keys = keys_in(head)
        asked = {"utterance", "sparql"} <= keys or {"question", "sparql", "results"} <= keys
        return head.lstrip().startswith("[") and asked and "title" not in keys

    def question(self, id: str, record: Record) -> GoldQuestion:
        """Return a question with its stored results."""
        match record.get("results"):
            case None:
                answers = None
            case bool(truth):
                answers = Table.of_boolean(truth)
            case list(bindings):
                answers = table_of_bindings(bindings)
            case _:
                raise Unfit("'results' must be a list of solutions or a boolean")
        return GoldQuestion(id, "", sparql=query_in(record, "sparql"), answers=answers)
