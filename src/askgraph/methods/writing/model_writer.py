"""A language model that writes queries of listed terms, its prompt, and the grammar of its replies.

The prompt is the same in training and in use:

    Question: Which moons of Jupiter were discovered by Galileo?

    Entities
    <Jupiter> — gas giant
    <Galileo_Galilei>
    Classes
    <Moon>
    Predicates
    <orbits>
    <discoverer>

The reply is the query:

    SELECT ?v0 WHERE { ?v0 rdf:type <Moon> . ?v0 <orbits> <Jupiter> . }

In the plain form (`TermNames`), the prompt and the reply contain IRIs and literals.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Template

from askgraph.errors import QueryError, QuerySyntaxError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import exclude_question, rank_examples
from askgraph.index.names import ItemKind
from askgraph.llm import Assistant, LanguageModel, Message, Options, System, User, read_completion
from askgraph.llm.structured import can_use_grammar
from askgraph.methods.settings import load_texts
from askgraph.methods.writing import Hypothesis, ListedTerm
from askgraph.methods.writing.term_names import (
    ALWAYS_ALLOWED,
    CAST_DATATYPES,
    NAMES,
    PLAIN,
    TermNames,
)
from askgraph.sparql.judge import check_query
from askgraph.sparql.rewrite.canonical import canonicalize_query
from askgraph.trace import Question

_MAX_GROUP_DEPTH = 3  # groups within groups
_MAX_OPERATION_DEPTH = 4  # operations within operations


_SAMPLING_TEMPERATURE = 0.7  # of several replies
MAX_REPLY_TOKENS = 300  # of a reply at most
_TEXTS = load_texts("writing")
_TASKS: Mapping[str, str] = _TEXTS["tasks"]
_TIME_RULES: Mapping[str, str] = _TEXTS["time_rules"]
_ATOMS = {"expr": "node | literal | tag", "head": "node | literal | tag | aggregate"}
_NESTED_MARK = " NESTED "
_EXPRESSION_RULES = Template(_TEXTS["expression_rules"])
_GROUP_RULES = Template(_TEXTS["group_rules"])
_HEADINGS = {
    ItemKind.ENTITY: "Entities",
    ItemKind.CLASS: "Classes",
    ItemKind.PREDICATE: "Predicates",
    ItemKind.VALUE: "Values",
}
_MAX_DESCRIPTION_CHARACTERS = 160  # characters of a description that are shown
_QUERY_START = re.compile(r"\b(?:BASE|PREFIX|SELECT|ASK)\b", re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*[^\S\n]*\n(.*?)(?:```|\Z)", re.DOTALL)


def build_messages(question: str, names: TermNames, notes: Sequence[str] = ()) -> list[Message]:
    """Return the conversation whose next reply is the query; `notes` come first."""
    return [System(_TASKS[names.form]), User("\n\n".join((*notes, build_prompt(question, names))))]


def build_prompt(question: str, names: TermNames) -> str:
    """Return the question and the terms that a query may use, one term per line."""
    lines = [f"Question: {_join_lines(question)}", ""]
    for kind, heading in _HEADINGS.items():
        entries = [(name, term) for name, term in names.entries if term.kind is kind]
        lines += [heading] if entries else []
        for name, term in entries:
            description = _join_lines(term.description)
            if len(description) > _MAX_DESCRIPTION_CHARACTERS:
                description = description[:_MAX_DESCRIPTION_CHARACTERS].rsplit(" ", 1)[0] + " …"
            line = f"{name}: {_join_lines(term.label)}" if names.is_plain else name
            lines.append(f"{line} — {description}" if description else line)
    return "\n".join(lines)


def parse_query(reply: str, names: TermNames, prefixes: Mapping[str, str] | None = None) -> str:
    """Parse the SPARQL query of a reply.

    Text before the query and a fence around it are ignored. In the plain form the query may use
    `prefixes` without declaring them.

    Raises:
        QuerySyntaxError: the reply has no query; `UnlistedTermError` if it uses unlisted terms.
    """
    text = next(reversed(_FENCE.findall(reply)), reply)
    start = _QUERY_START.search(text)
    if start is None:
        raise QuerySyntaxError("the reply holds no SELECT or ASK query")
    query = text[start.start() :]
    if not names.is_plain:
        query = re.split(r"\n\s*\n|```", query, maxsplit=1)[0].strip()
    return names.decode_query(query, prefixes)


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def build_query_grammar(names: TermNames) -> str:
    """Return the grammar of replies to a question."""
    rules = [*_build_term_rules(names)]
    for depth in range(_MAX_GROUP_DEPTH):
        group_rules = _GROUP_RULES.substitute(depth=depth, inner=f"group{depth + 1}")
        if depth + 1 == _MAX_GROUP_DEPTH:
            group_rules = group_rules.partition(_NESTED_MARK)[0]
        rules.append(group_rules.replace(_NESTED_MARK, " | "))
    casts = [_quote(names.render_standard_name(f"xsd:{local}")) for local in CAST_DATATYPES]
    for kind, atoms in _ATOMS.items():
        for depth in range(_MAX_OPERATION_DEPTH):
            rules.append(
                _EXPRESSION_RULES.substitute(
                    kind=kind,
                    depth=depth,
                    inner=f"{kind}{depth + 1}",
                    atoms=atoms,
                    casts=_join_choices(casts),
                )
            )
        rules.append(f"{kind}{_MAX_OPERATION_DEPTH} ::= {atoms}")
    fixed_rules: str = _TEXTS["fixed_rules"]
    return "\n".join(rules) + fixed_rules


def _build_term_rules(names: TermNames) -> Iterator[str]:
    render = names.render_standard_name
    nodes = dict.fromkeys(
        _quote(name) for name, term in names.entries if term.kind is not ItemKind.VALUE
    )
    values = map(_quote, (*names.list_names(ItemKind.VALUE), "true", "false"))
    times = [rf'"\"" {form} "\"^^{render(f"xsd:{kind}")}"' for kind, form in _TIME_RULES.items()]
    standard_predicates = map(render, ALWAYS_ALLOWED)
    predicates = [*map(_quote, (*names.list_names(ItemKind.PREDICATE), *standard_predicates))]
    kind, classes = _quote(render("rdf:type")), map(_quote, names.list_names(ItemKind.CLASS))
    yield f"node ::= {_join_choices(['var', *nodes])}"
    yield f"value ::= {_join_choices([*nodes, 'literal'])}"
    yield "item ::= var | value"
    yield f"predicate ::= {_join_choices(predicates)}"
    yield f"link ::= {_join_choices(predicate for predicate in predicates if predicate != kind)}"
    yield f'typed ::= node " " {kind} " " ({_join_choices(["var", *classes])}) " ."'
    yield f"literal ::= {_join_choices(['number', *times, *values])}"


def _join_choices(choices: Iterable[str]) -> str:
    return " | ".join(choices)


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@dataclass(frozen=True)
class PromptedWriter:
    """Writes queries with a language model and the prompt of `prompt`.

    `search` is how to get several replies: `beams` (the best of a beam search) or `samples`
    (independent replies at a temperature of 0.7). A reply that uses unlisted terms or cannot be
    parsed is dropped, so there may be fewer than `n`. With `constrained`, a model that accepts a
    grammar (`askgraph.llm.structured`) must follow one. `notes` are facts about the question's
    words that come before it.

    `form` is the form of `TermNames`. In the plain form, the prompt shows `shots` examples of the
    graph, the most similar ones (Alekseev et al., NLDB 2025, section 5).
    """

    model: LanguageModel
    search: str = "samples"
    constrained: bool = True
    notes: Sequence[str] = ()
    form: str = NAMES
    shots: int = 0

    async def write(
        self, question: Question, terms: Sequence[ListedTerm], graph: KnowledgeGraph, *, n: int = 1
    ) -> list[Hypothesis]:
        """Write up to `n` different queries, most likely first.

        Raises:
            SetupError: `search` is `beams` and the model has no beam search. Errors of the model
                pass.
        """
        names = TermNames(terms, self.form)
        options = Options(n=n, max_tokens=MAX_REPLY_TOKENS, logprobs=True)
        if n > 1 and self.search == "beams":
            options["beams"] = True
        else:
            options["temperature"] = _SAMPLING_TEMPERATURE if n > 1 else 0.0
        if self.constrained and can_use_grammar(self.model):
            options["grammar"] = build_query_grammar(names)
        conversation = self.build_messages(question.text, terms, graph)
        reply = await read_completion(self.model.complete(conversation, **options))

        def get_score(hypothesis: Hypothesis) -> float:
            return float("-inf") if hypothesis.score is None else hypothesis.score

        hypotheses: dict[str, Hypothesis] = {}
        for choice in reply.choices:
            try:
                query = check_query(parse_query(choice.text, names, graph.prefixes.namespaces)).text
            except QueryError:
                continue
            hypothesis = Hypothesis(query, choice.logprob)
            previous = hypotheses.setdefault(canonicalize_query(query), hypothesis)
            if get_score(hypothesis) > get_score(previous):
                hypotheses[canonicalize_query(query)] = hypothesis
        return sorted(hypotheses.values(), key=lambda hypothesis: -get_score(hypothesis))

    def build_messages(
        self, question: str, terms: Sequence[ListedTerm], graph: KnowledgeGraph
    ) -> list[Message]:
        """Return the conversation whose next reply is the query."""
        task, user_message = build_messages(question, TermNames(terms, self.form), self.notes)
        conversation = [task]
        if self.form == PLAIN and self.shots:
            others = exclude_question(question, graph.examples)
            for example, _ in reversed(rank_examples(question, others, limit=self.shots)):
                conversation += [User(f"Question: {example.question}"), Assistant(example.query)]
        return [*conversation, user_message]
