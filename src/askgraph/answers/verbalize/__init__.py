"""Readings: queries read back in plain words, by their trees, without a language model.

Contents: phrases and values of a language (`phrases`), what a graph tells of terms (`labels`), a
lexical model of properties with their clauses (`lexicon`), groups sorted by kind (`scope`), words
for terms and variables (`names`), clauses on them (`clauses`), queries that list and count
(`listing`), and here the whole sentence. Start reading at `verbalize_query`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pyoxigraph import Literal, NamedNode, Variable

from askgraph import sparql
from askgraph.answers.verbalize.labels import (
    MAX_LABELS,
    SchemaFacts,
    collect_facts,
    detect_label_language,
    distinguish_labels,
    fetch_term_descriptions,
    fetch_term_labels,
    list_texts,
)
from askgraph.answers.verbalize.lexicon import make_forms
from askgraph.answers.verbalize.listing import Grouping
from askgraph.answers.verbalize.names import Names, TripleReader, strip_article
from askgraph.answers.verbalize.phrases import load_phrases
from askgraph.answers.verbalize.scope import Scope, drop_shown_names, unwrap
from askgraph.errors import QuerySyntaxError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.arrays import GraphArrays
from askgraph.graph.glossary import Glossary, GlossaryEntry
from askgraph.index.names import stem_name
from askgraph.search.tokenize import TokenizedQuestion
from askgraph.sparql.prefixes import split_local_name
from askgraph.sparql.serializer import to_tree
from askgraph.sparql.vocabulary import RDF_TYPE
from askgraph.sparql.windows import Window, parse_window
from askgraph.trace import Answerer, Outcome, Usage

__all__ = [
    "MAX_LABELS", "TripleReader", "describe_confidence", "describe_merged_names",
    "describe_taught_words", "detect_label_language", "distinguish_labels", "drop_shown_names",
    "fetch_term_descriptions", "fetch_term_labels", "list_iris", "list_query_iris", "list_texts",
    "verbalize_query", "verbalize_query_for_graph", "verbalize_with_names",
]  # fmt: skip

_MAX_CHARACTERS = 10_000  # characters of a query: the time grows with the square of the patterns
_CONFIDENCES = ((0.85, "sure"), (0.6, "fairly sure"), (0.35, "unsure"), (0.0, "a guess"))
_MAX_LISTED_NOUNS = 6  # so many properties of a description are named


def verbalize_query(
    query: sparql.Query | str,
    labels: Mapping[str, str],
    *,
    language: str = "en",
    nouns: str | None = None,
    facts: SchemaFacts | None = None,
) -> str:
    """Return a query in one or two sentences of plain words.

    Args:
        query: The query, or its text.
        labels: The labels of its IRIs (see `list_query_iris`); other IRIs are split into words.
        language: English, German, Spanish or French; others read English.
        nouns: The language of the labels if it is another one; empty if unknown.
        facts: Knowledge of the terms from the graph: people, dates, units.

    Returns:
        The words; an error phrase for a text that is no query or exceeds 10,000 characters.

    >>> verbalize_query("SELECT ?s { ?s a <http://x/Singer> ; <http://x/country> 'France' }", {})
    'Singers whose country is “France”.'
    """
    return verbalize_with_names(query, Names(labels, load_phrases(language, nouns), facts=facts))


def verbalize_query_for_graph(
    query: sparql.Query | str,
    labels: Mapping[str, str],
    graph: KnowledgeGraph,
    language: str,
    *,
    near: GraphArrays | None = None,
) -> str:
    """Return a query in words, with what a graph shows of its terms."""
    with contextlib.suppress(QuerySyntaxError):
        query = drop_shown_names(to_tree(query), graph)
    nouns = detect_label_language(graph, language)
    facts = collect_facts(list_query_iris(query), graph, language, near)
    return verbalize_query(query, labels, language=language, nouns=nouns, facts=facts)


def verbalize_with_names(query: sparql.Query | str, names: Names) -> str:
    """Return a query in words by these names for its terms, in their language."""
    text = names.phrases.say("unreadable")
    if isinstance(query, sparql.Query) or len(query) <= _MAX_CHARACTERS:
        with contextlib.suppress(QuerySyntaxError, RecursionError):
            sentence = Sentence(to_tree(query), names)
            text = sentence.write()
            if sentence.is_plain_list(text):  # without "the" before a plural
                text = text.removeprefix("the ")
    return names.phrases.punctuate(text)


def list_query_iris(query: sparql.Query | str) -> tuple[str, ...]:
    """Return the distinct IRIs that `verbalize_query` names, in order; none if unreadable."""
    try:
        return list_iris(to_tree(query))
    except QuerySyntaxError:
        return ()


def list_iris(part: object) -> tuple[str, ...]:
    """Return the IRIs in a part of a query's tree that words name, each once, in order."""
    iris: dict[str, None] = {}
    for node in sparql.walk(part):
        if isinstance(node, NamedNode):
            iris[node.value] = None
        elif isinstance(node, sparql.Call) and node.name[0] == "<" and node.name[-1] == ">":
            iris[node.name[1:-1]] = None
    iris.pop(RDF_TYPE, None)
    return tuple(iris)


def describe_confidence(confidence: float) -> str:
    """Return a confidence between 0 and 1 as words and a number."""
    words = next(words for bound, words in _CONFIDENCES if confidence >= bound)
    return f"{words} ({confidence:.2f})"


def describe_cost(usage: Usage) -> str:
    """Return the tokens of a usage, and its cost if there is one."""
    text = f"{usage.input_tokens:,} tokens in"
    if usage.cached_tokens:
        text += f" ({usage.cached_tokens:,} cached)"
    text += f", {usage.output_tokens:,} out"
    return text + (f", cost {usage.money:.4f}" if usage.money else "")


def describe_calls(usage: Usage) -> str:
    """Return the number of model calls and their cost."""
    calls = f"{usage.llm_calls} call{'s' if usage.llm_calls > 1 else ''} of a model"
    return f"{calls}, {describe_cost(usage)}"


def describe_answerer(outcome: Outcome) -> str:
    """Return who answered and the cost of its model; "" if the method chose nobody."""
    match outcome.answered_by:
        case None:
            return ""
        case Answerer("graph-search", model, failed):
            return f"graph search; {model} did not answer" if failed else "graph search"
        case Answerer(method, model):
            return f"{method} with {model}: {describe_calls(outcome.usage)}"


def describe_merged_names(merged: Mapping[str, str], language: str) -> list[str]:
    """Return a sentence for each name of a thing that was merged into another, by its label."""
    phrases = load_phrases(language)
    return [phrases.say("merged", *map(phrases.quote, pair)) for pair in merged.items()]


async def describe_taught_words(
    meanings: Mapping[str, Sequence[str]],
    graph: KnowledgeGraph,
    language: str,
    *,
    near: GraphArrays | None = None,
) -> list[str]:
    """Return a sentence for each word that was taught, by the labels of the IRIs that it means."""
    every = {iri for iris in meanings.values() for iri in iris}
    labels = await fetch_term_labels(every, graph, [language], near=near)
    classes = {cls.iri for cls in graph.profile.classes}
    phrases = load_phrases(language, detect_label_language(graph, language))

    def list_nouns(iris: Sequence[str]) -> list[str]:
        named = {labels.get(iri) or split_local_name(iri): iri for iri in reversed(iris)}
        return [
            phrases.pluralize(name) if iri in classes else name
            for name, iri in [*named.items()][::-1]
        ]

    sentences = []
    for word, iris in meanings.items():
        nouns = phrases.join_list(list_nouns(iris))
        entry = graph.glossary.find_entry(word) if graph.glossary else None
        if entry is None or not entry.definition.description:
            sentences.append(phrases.say("taught", phrases.quote(word), nouns))
        else:
            name = phrases.quote(entry.get_name(language))
            sentences.append(phrases.say("defined", name, f"{nouns}. {_explain(entry)}"))
    return sentences


def describe_exceptions(
    glossary: Glossary, reading: TokenizedQuestion, lifted: Sequence[GlossaryEntry]
) -> list[str]:
    """Return a sentence for each lifted filter, and hidden property with the last of its words."""
    phrases = load_phrases(reading.language)
    stems = {token.stem for token in reading.tokens}
    hidden = (entry for entry in glossary.entries if entry.definition.hidden)
    touched = [x for x in hidden if any(stem_name(name)[-1] in stems for name, _ in x.names)]
    return [
        phrases.say(key, phrases.quote(entry.get_name(reading.language)))
        for key, entries in (("lifted", lifted), ("hidden", touched))
        for entry in entries
    ]


def describe_definitions(
    graph: KnowledgeGraph, names: Mapping[str, str], language: str
) -> list[str]:
    """Return a sentence for each definition that a query uses, by its virtual IRI and name."""
    phrases = load_phrases(language, detect_label_language(graph, language))
    entries = graph.glossary.definitions if graph.glossary else ()
    return [
        phrases.say("defined", phrases.quote(names[entry.iri]), _explain(entry))
        for entry in entries
        if entry.iri in names
    ]


def _explain(entry: GlossaryEntry) -> str:
    rule = entry.definition
    unit = f" ({rule.unit})" if rule.unit else ""
    text = rule.description or rule.value or " ".join(rule.pattern.split())
    return f"{text.rstrip('.')}{unit}"


class Sentence(Grouping):
    """One SELECT, ASK, CONSTRUCT or DESCRIBE on its way into words."""

    def is_plain_list(self, text: str) -> bool:
        """Return whether English words name all things of a kind, without an order that cuts."""
        root = self.find_root()
        if not self.phrases.is_english or not isinstance(root, Variable):
            return False
        return (
            text.startswith("the ")
            and not text.startswith(f"the {self.writer.find_noun(root)} of ")
            and self.query.form == "SELECT"
            and root in self.list_asked()
            and not self.is_singular
            and not self.keys
            and not self.cuts_root()
            and not self.is_union()
            and all(_is_mean(select) for select in self.scope.selects)
            and not self.query.is_aggregate
        )

    def write(self) -> str:
        """Return the query in words, as a phrase."""
        match self.query.form:
            case "ASK":
                return self.write_ask()
            case "DESCRIBE":
                return self.write_description()
            case "CONSTRUCT":
                return self.write_construct()
            case _:
                return self.write_select_query()

    def write_select_query(self) -> str:
        """Return a SELECT query in words."""
        self.names.count_replacement()
        elements = self.query.where.elements
        has_parts = any(isinstance(item, sparql.Query | sparql.Union) for item in elements)
        if has_parts and (window := parse_window(self.query)):
            return self.write_window(window)
        if self.is_wrapper():
            return self.add_order(self.write_group_count() or self.write_wrapped(), None)
        for write in (self.write_described, self.write_picked, self.write_crowned, self.write_few):
            if (text := write()) is not None:
                return text
        if self.is_union():
            return self.add_order(self.write_alternatives(), None)
        root = self.find_root()
        if self.keys:
            text = self.write_groups(root)
        elif self.query.is_aggregate or self.list_computed():
            text = self.write_computed(root)
        else:
            text = self.write_listing(root)
        text = self.add_leftovers(text)
        for condition in () if self.having_done else self.query.having:
            text = self.say("having", text, self.write_expression(condition))
        return self.add_order(text, root)

    def write_window(self, window: Window) -> str:
        """Return what a query computes from the rows of each group: `the median mass`."""
        columns = tuple(pair for pair in window.base.columns if pair[0] not in window.keys)
        inner = Sentence(replace(window.base, columns=columns), self.names)
        if window.kind == "top":
            rows, binds = inner.write_select_query(), inner.scope.binds
            nouns = [
                inner.writer.write(key) if key.value in binds else self.writer.find_noun(key)
                for key in window.keys
            ]
            return self.say("each", strip_article(self.join_list(nouns), self.phrases), rows)
        if window.total is not None:
            root, outer = inner.find_root(), Sentence(window.total, self.names)
            outer.name_keys(outer.find_root())
            keys = self.join_list(inner.name_keys(root))
            shares = inner.write_aggregates(root), outer.write_aggregates(outer.find_root())
            return self.say("each", keys, self.say("percent", *shares))
        inner.window = window
        return inner.write_select_query()

    def write_described(self) -> str | None:
        """Describe one thing by some properties, one row per value; None for other queries."""
        match self.scope.patterns, self.scope.values:
            case [sparql.Pattern(subject, Variable() as name, Variable() as value)], [
                sparql.Values((given,), rows)
            ]:
                shown = {column for column, _ in self.query.columns}
                if name == given and not isinstance(subject, Variable) and shown == {name, value}:
                    iris = [row[0] for row in rows if isinstance(row[0], NamedNode)]
                    nouns = [self.names.find_entry(iri).text.strip("“”„«» ") for iri in iris]
                    more = " …" if len(nouns) > _MAX_LISTED_NOUNS else ""
                    about = self.say("describe", self.names.name_term(subject))
                    return f"{about}: {', '.join(nouns[:_MAX_LISTED_NOUNS])}{more}"
        return None

    def write_picked(self) -> str | None:
        """The one of some named things that has the most or the least of a value; else None."""
        match self.scope.values:
            case [sparql.Values((given,), rows)] if self.cuts_root() and self.query.limit == 1:
                if given == self.find_root() and not self.query.offset:
                    things = [self.names.name_term(row[0]) for row in rows if row[0] is not None]
                    lead, tail = self.write_superlative(given)
                    if lead:
                        return f"the {lead} of {self.join_list(things)} {tail}".strip()
                    best = f"one {tail}" if self.phrases.is_english else tail
                    return self.say("picked", self.join_list(things), best)
        return None

    def write_group_count(self) -> str | None:
        """How many things a sub-query finds, if that is all; else None."""
        match self.query.columns, self.query.where.elements:
            case [(_, sparql.Call("COUNT DISTINCT", (Variable() as one,)))], [
                sparql.Query() as inner
            ]:
                alone = ((one, None),)
                if self.query.group_by or alone[0] not in inner.columns:
                    return None
                if inner.limit:
                    first = Sentence(replace(inner, columns=alone), self.names)
                    return self.say("number of those", first.write().rstrip(","))
                if inner.columns == alone and inner.having:
                    things = strip_article(self.write_select(inner, one.value), self.phrases)
                    return self.say("the", self.say("number", things))
        return None

    def write_crowned(self) -> str | None:
        """Describe the things with the highest or lowest count of sub-queries; else None.

        Phrase them as the first of an order, or as owned by the first.
        """
        match self.scope.selects, self.query.where.elements:
            case [
                sparql.Query(group_by=((Variable() as key, None),)) as mine,
                sparql.Query(columns=((most, sparql.Call("MAX" | "MIN" as function)),)),
            ], elements:
                number, call = mine.columns[0]
                gone = (*self.scope.selects, sparql.Filter(sparql.Call("=", (number, most))))
                rest = sparql.Group(tuple(one for one in elements if one not in gone))
                same = dict(zip(_list_variables(mine.where), _list_variables(rest), strict=False))
                if call is None or len(rest.elements) != len(mine.where.elements):
                    return None
                counted = sparql.transform(call, lambda node: same.get(node, node))
                order = ((counted, function == "MAX"),)
                alone = ((key, None),)
                first = replace(mine, where=rest, columns=alone, group_by=alone)
                first = replace(first, order=order, limit=1)
                return self.write_first(first, {number: counted})
        return None

    def write_few(self) -> str | None:
        """Groups that have at most so many of what need not be there: `…, or none`; else None."""
        elements = self.query.where.elements
        match self.query.having, [one for one in elements if isinstance(one, sparql.Nested)]:
            case (sparql.Call("<" | "<=", (sparql.Call() as call, Literal())),), [
                sparql.Nested("OPTIONAL", group) as one
            ]:
                if call.arguments[0] in _list_variables(group) and self.is_count(call):
                    kept = tuple(part for part in elements if part is not one)
                    plain = replace(self.query, where=sparql.Group((*kept, *group.elements)))
                    return self.say("or none", Sentence(plain, self.names).write())
        return None

    def write_first(self, first: sparql.Query, counts: Mapping[Variable, sparql.Expression]) -> str:
        """Describe the columns of the first group by a number."""
        key = first.columns[0][0]
        columns = tuple((name, counts.get(name, value)) for name, value in self.query.columns)
        plain = [name for name, value in columns if value is None]
        owned = {one.object for one in self.scope.patterns if one.subject == key}
        if all(name == key or name in owned for name in plain):
            keys = ((key, None), *((name, None) for name in plain if name != key))
            return Sentence(replace(first, columns=columns, group_by=keys), self.names).write()
        listed = Sentence(replace(self.query, where=first.where), self.names).write()
        return self.say("of winner", listed, Sentence(first, self.names).write())

    def is_union(self) -> bool:
        """Whether there is nothing but a union of parts that do not speak of one thing alike."""
        scope = self.scope
        if scope.patterns or scope.selects or len(scope.unions) != 1 or self.query.is_aggregate:
            return False
        asked = {name.value for name in self.list_asked()}
        return any(
            inner.selects or inner.aliases or not asked <= inner.list_names() or len(asked) > 1
            for inner in scope.unions[0]
        )

    def write_alternatives(self) -> str:
        """Each part of a union as a sentence of its own."""
        part = replace(self.query, order=(), limit=None, offset=None)
        parts = [replace(part, where=group) for group in self.scope.union_groups[0]]
        texts = [Sentence(one, self.names).write() for one in parts]
        return self.join_list(list(dict.fromkeys(texts)))

    def write_wrapped(self) -> str:
        """Return sub-selects that are joined or reduced."""
        groups = {key for select in self.scope.selects for key, _ in select.group_by}
        asked = [name for name in self.list_asked() if name not in groups]
        binds = [self.scope.binds.get(name.value) for name in asked]
        if binds and all(one is not None for one in binds):
            return self.join_list([self.write_expression(one) for one in binds if one is not None])
        if mean := self.write_mean():
            return mean
        texts = [Sentence(select, self.names).write() for select in self.scope.selects]
        text = self.join_list(texts)
        computed = [self.write_expression(value) for value in self.list_computed()]
        if computed:
            return self.say("also", self.join_list(computed), text)
        return self.add_leftovers(text)

    def write_mean(self) -> str:
        """`the average, over each planet, of the number of its moons`; empty if it is no such."""
        match self.scope.selects, self.list_computed():
            case [select], [sparql.Call("AVG", (Variable() as number,))] if select.group_by:
                inner = Sentence(select, self.names)
                root = inner.find_root()
                is_cut = bool(select.having or select.limit) or len(inner.list_computed()) != 1
                if is_cut or (number, None) in select.columns:
                    return ""
                texts = self.join_list(inner.name_keys(root)), inner.write_aggregates(root)
                if self.window is not None:
                    return self.say_percentile(" of each", *texts)
                return self.say("average of each", *texts)
        return ""

    def write_select(self, select: sparql.Query, column: str) -> str:
        """A column of a sub-select as a noun phrase."""
        inner = Sentence(select, self.names)
        if len(select.columns) > 1:
            kept = tuple(pair for pair in select.columns if pair[0].value == column)
            inner = Sentence(replace(select, columns=kept), self.names)
        if select.group_by and inner.list_computed() and not (select.having or select.order):
            named = [key for key in inner.keys if isinstance(key, Variable)]
            keys = self.join_list([inner.writer.find_noun(key) for key in named])
            return self.say("for each", inner.write_aggregates(inner.find_root()), keys)
        text = inner.write_select_query()
        is_whole = inner.query.is_aggregate and all(
            isinstance(pattern.object, Variable) or pattern.predicate == NamedNode(RDF_TYPE)
            for pattern in inner.scope.patterns
        )
        if self.phrases.is_english and is_whole and not inner.scope.filters:
            return re.sub(r"^(the \S+ .+?) of the ", r"\1 of all ", text)
        return text

    def add_leftovers(self, text: str) -> str:
        """Add the remaining parts: unlinked patterns, free conditions, other alternatives."""
        for variable in self.list_open_subjects():
            if variable.value not in self.writer.known:
                text = self.say("also", text, self.writer.describe(variable, many=False))
        for number, condition in enumerate(self.scope.filters):
            if number not in self.writer.done_filters:
                text = self.say("where", text, self.writer.write(condition))
        for number, scopes in enumerate(self.scope.unions):
            if number not in self.writer.done_unions:
                options = [self.write_group(inner) for inner in scopes]
                text = self.say("also", text, self.join_list(options, "or"))
        for inner in self.scope.without:
            shared = inner.aliases.keys() & (self.scope.aliases.keys() | self.scope.list_names())
            linked = inner.resolve(Variable(min(shared))) if shared else None
            text = self.say("except", text, self.write_group(inner, linked))
        return text

    def list_open_subjects(self) -> list[Variable]:
        """Return the variables of pending patterns that are no columns."""
        known = set(map(Variable, self.writer.known))
        silent = set(map(Variable, self.writer.silent))
        found = list[sparql.Term]()
        for pattern in self.scope.patterns:
            is_column = pattern.object in silent and pattern.subject in known
            if pattern not in self.writer.done and not is_column:
                found += [pattern.subject, pattern.object]
        return list(dict.fromkeys(term for term in found if isinstance(term, Variable)))

    def write_group(self, inner: Scope, about: Variable | None = None) -> str:
        """A group on its own."""
        if inner.selects and not inner.patterns:
            texts = [Sentence(select, self.names).write() for select in inner.selects]
            return self.join_list(texts)
        writer = self.writer.enter(inner)
        subjects = [p.subject for p in inner.patterns if isinstance(p.subject, Variable)]
        if about is not None and about not in subjects:
            owner = writer.find_owner(about)
            if owner is not None:
                writer.silent.add(about.value)
                writer.known.pop(about.value, None)
                return writer.write_value_of(owner, about)
        start = about or next(iter(subjects), None)
        if start is None:
            return self.join_list([_state(p, self.names) for p in inner.patterns])
        writer.known.pop(start.value, None)
        return writer.describe(start, many=about is not None)

    def add_order(self, text: str, root: sparql.Term | None) -> str:
        """The text with its order and its cut."""
        query = self.query
        if self.cuts_done and self.write_places() is not None:
            return text
        if query.offset:
            text = self.say("nth", text, query.offset)
        names = self.scope.list_names() | self.values.keys()
        order = [
            (value, down)
            for value, down in query.order
            if not isinstance(value, Variable) or value.value in names
        ]
        if not order:
            return self.say("at most", text, query.limit) if query.limit else text
        if query.limit:
            value, down = order[0]
            noun, few = self.name_order(value, root), "one" if query.limit == 1 else "some"
            key = f"{few} {self.choose_extreme(value, noun, down=down)}"
            return self.say(key, text, noun, query.limit)
        nouns = []
        for at, (value, down) in enumerate(order):
            if at and value == root:
                continue  # it only keeps the order of equal ones
            noun = self.name_order(value, root)
            if self.is_count(value):
                count = self.write_expression(self.find_order_value(value), root)
                noun = strip_article(count, self.phrases)
            nouns.append(self.describe_direction(value, noun) if down else noun)
        is_shown = len(order) == 1 and len(self.list_asked()) == 2 and not self.query.is_aggregate
        if self.phrases.is_english and is_shown and (first := nouns[0].rpartition(", ")[2]):
            is_column = order[0][1] and unwrap(order[0][0]) in self.list_asked()
            if is_column and first.endswith(" first"):
                return f"{text}, {first}"
        return self.say("sorted", text, self.join_list(nouns))

    def describe_direction(self, value: sparql.Expression, noun: str) -> str:
        """Return a noun by which rows are sorted downwards: `mass, largest first`."""
        entry = self.find_order_entry(value)
        if entry is None:
            return self.say("down", noun)
        noun = f"date {entry.text}" if entry.kind == "dated" else noun
        if entry.is_dated:
            return f"{noun}, latest first"
        high = "most" if entry.kind == "count" else entry.high
        if entry.values in ("text", "thing"):
            return f"{noun} in descending order"
        is_number = entry.values in ("integer", "number", "duration")
        return f"{noun}, {high} first" if is_number else self.say("down", noun)

    def write_ask(self) -> str:
        """Return a question about facts, or about what there is."""
        key, claim = self.make_claim()
        if not self.phrases.is_english or key == "is there":
            return self.say(key, claim)
        match self.scope.patterns, self.scope.filters, self.scope.without:
            case [sparql.Pattern(subject, NamedNode() as predicate, value)], [], []:
                name = self.names.name_term(subject)
                entry = self.names.find_entry(predicate)
                flag = self.names.describe_flag(entry, f"is {self.names.name_term(value)}")
                if isinstance(value, Literal) and flag:
                    return f"is {name} {flag.removeprefix('is ')}?"
                if predicate.value == RDF_TYPE and isinstance(value, NamedNode):
                    noun = self.names.name_type(value.value)
                    return f"is {name} {self.phrases.add_article(noun)}?"
                if not entry.steps:
                    return self.forms.ask(entry, name, self.writer.write_value(value, entry))
        if claim.count(" is ") == 1 and claim.startswith("the ") and " and " not in claim:
            about, _, rest = claim.partition(" is ")
            return f"is {about} {rest}?"
        return self.say(key, claim)

    def make_claim(self) -> tuple[str, str]:
        """Return the key of the question and its parts."""
        match self.query.where.elements:
            case (sparql.Filter(sparql.Call("NOT EXISTS", (sparql.Group() as group,))),):
                exception = Sentence(replace(self.query, where=group), self.names).make_claim()
                return f"{exception[0]} none", exception[1]
        patterns = self.scope.patterns
        if patterns and not any(True for p in patterns for _ in sparql.find_variables(p)):
            facts = [_state(p, self.names) for p in patterns]
            start = f"{self.names.name_term(patterns[0].subject)} "
            facts[1:] = [fact.removeprefix(start) for fact in facts[1:]]
            for inner in self.scope.without:
                facts += [self.say("not fact", _state(p, self.names)) for p in inner.patterns]
            return "is true", self.join_list(facts)
        root = self.find_source()
        if isinstance(root, Variable):
            phrase = self.writer.describe(root, many=False)
            if self.phrases.is_english and phrase.startswith("the "):
                phrase = self.say("a", phrase.removeprefix("the "))
            return "is there", self.add_leftovers(phrase)
        statements = self.list_statements()
        if not statements:
            return "is there", self.say("something")
        return "is true", self.join_list(statements)

    def list_statements(self) -> list[str]:
        """Return the statements of an ASK query without unknown subjects."""
        texts = [
            self.describe_flag_of(condition) or self.writer.write(condition)
            for condition in self.scope.filters
        ]
        untold = (one for one in self.scope.patterns if one not in self.writer.done)
        return [*texts, *(_state(pattern, self.names) for pattern in untold)]

    def describe_flag_of(self, expression: sparql.Expression) -> str:
        """What a known thing is of which something is true or false: `measles is contagious`."""
        condition = self.writer.tests.parse(expression)
        owner = condition and self.writer.find_owner(condition.variable)
        if not (condition and owner) or isinstance(owner.subject, Variable):
            return ""
        relation = self.names.find_entry(owner.predicate)
        said = self.names.describe_flag(relation, self.writer.tests.describe([condition]))
        if not said:
            return ""
        self.writer.done.add(owner)
        return f"{self.names.name_term(owner.subject)} {said}"

    def write_description(self) -> str:
        """Return what a DESCRIBE query asks."""
        terms = [t for t in self.query.resources if not isinstance(t, Variable)]
        if terms:
            return self.say("describe", self.join_list([self.names.name_term(t) for t in terms]))
        return self.say("describe", self.write_source())

    def write_construct(self) -> str:
        """Return what a CONSTRUCT query makes."""
        nouns = [self.names.find_entry(p.predicate).text for p in self.query.template]
        return self.say("triples", self.join_list(list(dict.fromkeys(nouns))), self.write_source())

    def write_source(self) -> str:
        """Return the subject of the patterns of a query."""
        root = self.find_source()
        about = self.write_subject(root) if root is not None else self.say("things")
        return self.add_leftovers(about)


def _is_mean(select: sparql.Query) -> bool:
    """Return whether a sub-select gives one number, which is no extreme."""
    calls = [value for _, value in select.columns if isinstance(value, sparql.Call)]
    is_extreme = any(call.name in ("MAX", "MIN") for call in calls)
    return select.is_aggregate and not select.group_by and not is_extreme


def _list_variables(part: sparql.Group) -> list[Variable]:
    return [one for one in sparql.walk(part) if isinstance(one, Variable)]


def _state(pattern: sparql.Pattern, names: Names) -> str:
    subject, value = names.name_term(pattern.subject), names.name_term(pattern.object)
    if pattern.predicate == NamedNode(RDF_TYPE) and isinstance(pattern.object, NamedNode):
        noun = names.name_type(pattern.object.value)
        return names.phrases.say("fact class", subject, names.phrases.add_article(noun))
    entry = names.find_entry(pattern.predicate)
    if isinstance(pattern.object, Literal) and (flag := names.describe_flag(entry, f"is {value}")):
        return f"{subject} {flag}"
    if isinstance(pattern.object, Literal) and entry.unit and value[-1:].isdigit():
        value = f"{names.name_literal(pattern.object, is_measure=True)} {entry.unit}"
    text = make_forms(names.phrases).state(entry, subject, value)
    if entry.steps and (entry.kind, entry.steps) != ("place", "+"):
        return names.phrases.say("path " + entry.steps, text)
    return text
