"""A language model that writes queries from references, and the grammar that holds it to them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from askgraph.errors import QueryError
from askgraph.graph import KnowledgeGraph
from askgraph.graph.examples import similar_examples
from askgraph.index.names import Kind
from askgraph.llm import (
    Assistant,
    Choice,
    LanguageModel,
    Message,
    Options,
    User,
    completed,
)
from askgraph.llm.structured import takes_grammar
from askgraph.methods.writing import Hypothesis, Listed
from askgraph.methods.writing.prompt import IT, MULTI_HOP, SINGLE_HOP, THEN, messages, query_in
from askgraph.methods.writing.references import (
    ALWAYS,
    CASTS,
    PLAIN,
    REFERENCES,
    SEPARATOR,
    References,
)
from askgraph.sparql.judge import checked
from askgraph.sparql.rewrite.canonical import canonical_query
from askgraph.trace import Question

_DEPTH = 3  # groups within groups
_LEVELS = 4  # operations within operations


_TEMPERATURE = 0.7  # of several replies
_TOKENS = 300  # of a reply at most
_ONE = (
    "STR LANG DATATYPE ABS CEIL FLOOR ROUND YEAR MONTH DAY HOURS MINUTES SECONDS STRLEN UCASE "
    "LCASE ISIRI ISLITERAL ISBLANK ISNUMERIC IRI"
).split()
_TWO = "CONTAINS STRSTARTS STRENDS LANGMATCHES STRBEFORE STRAFTER SAMETERM REGEX SUBSTR".split()
_THREE = "IF REGEX SUBSTR REPLACE".split()
_MANY = "COALESCE CONCAT".split()
_AGGREGATED = '("COUNT" | "SUM" | "AVG" | "MIN" | "MAX" | "SAMPLE")'
_OPERATORS = "= != < > <= >= + - * / && ||".split()
_TIMES = {
    "date": "day",
    "dateTime": 'day ("T" clock ("." [0-9]{1,6})? zone?)?',
    "gYear": "year",
    "gYearMonth": 'year "-" month',
    "time": "clock",
    "duration": '"P" ([1-9] [0-9]{0,3} [YMD]){1,3}',
}
_FIXED = rf"""
select ::= "SELECT " "DISTINCT "? columns " WHERE " group0 grouping? order? limit
ask ::= "ASK WHERE " group0
columns ::= column (" " column){{0,9}}
column ::= var | "(" head0 " AS " var ")"
grouping ::= " GROUP BY" (" " (var | condition | named)){{1,4}} (" HAVING " total)?
order ::= " ORDER BY" (" " (var | "DESC(" head1 ")" | total)){{1,3}}
limit ::= (" LIMIT " count)? (" OFFSET " count)?
named ::= "(" expr1 " AS " var ")"
condition ::= exprop0 | "(" exprcall0 ")"
total ::= headop0 | "(" (headcall0 | aggregate) ")"
aggregate ::= "COUNT(*)" | {_AGGREGATED} "(" "DISTINCT "? expr2 ")" | joined
joined ::= "GROUP_CONCAT(" "DISTINCT "? expr2 "; SEPARATOR=\"{SEPARATOR}\")"
pattern ::= typed | node " " (link | var | path0) " " (node | literal) " ."
var ::= "?v" "1"? [0-9]
number ::= "-"? ("0" | [1-9] [0-9]{{0,14}}) ("." [0-9]{{1,9}})?
count ::= [1-9] [0-9]{{0,5}}
tag ::= "\"" [a-z] [a-z] "\""
day ::= year "-" month "-" ("0" [1-9] | [12] [0-9] | "3" [01])
month ::= "0" [1-9] | "1" [0-2]
year ::= [0-9]{{4}}
clock ::= ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9]
zone ::= "Z" | [+-] ("0" [0-9] | "1" [0-3]) ":" [0-5] [0-9]
"""


def query_grammar(references: References, *, chains: bool = False) -> str:
    """Return the grammar of the replies to a question.

    `chains` admits two queries in a row, which only references may be.
    """
    chains = chains and references.form == REFERENCES
    rules = [*_root(references, chains=chains), *_terms(references, chains=chains), *_paths()]
    for depth in range(_DEPTH):
        elements = [
            "pattern",
            '"FILTER" (condition | "(" var ")")',
            '"BIND(" expr0 " AS " var ")"',
            '"VALUES (" var ") { " ("(" value ") "){1,12} "}"',
        ]
        if depth + 1 < _DEPTH:
            inner = f"group{depth + 1}"
            elements += [
                f'"FILTER " "NOT "? "EXISTS " {inner}',
                f'("OPTIONAL " | "MINUS ") {inner}',
                f'{inner} (" UNION " {inner}){{1,3}}',
                f'"{{ SELECT " "DISTINCT "? columns " WHERE " {inner} grouping? order? limit " }}"',
            ]
        rules.append(f'group{depth} ::= "{{ " (element{depth} " "){{1,24}} "}}"')
        rules.append(f"element{depth} ::= {_either(elements)}")
    casts = [references.shown(f"xsd:{local}") for local in CASTS]
    for depth in range(_LEVELS + 1):
        rules += [*_expressions("expr", depth, casts), *_expressions("head", depth, casts)]
    return "\n".join(rules) + _FIXED


def _root(references: References, *, chains: bool) -> Iterator[str]:
    if references.form != REFERENCES:
        yield "root ::= select | ask"
        return
    yield f'root ::= (("{SINGLE_HOP}" | "{MULTI_HOP}") "\\n")? ({_either(_queries(chains))})'
    if chains:
        yield 'first ::= "SELECT " "DISTINCT "? var " WHERE " group0 order? limit'


def _queries(chains: bool) -> list[str]:
    chain = f'first " {THEN} " (select | ask)'
    return ["select", "ask", *([chain] if chains else [])]


def _terms(references: References, *, chains: bool) -> Iterator[str]:
    """What may stand where in a pattern and in an expression."""
    kinds = (Kind.ENTITY, Kind.CLASS, Kind.PREDICATE)
    shown = references.shown
    named = dict.fromkeys(_quoted(shown(name)) for kind in kinds for name in references.names(kind))
    values = [_quoted(shown(name)) for name in references.names(Kind.VALUE)]
    values += [_quoted("true"), _quoted("false")]
    times = [rf'"\"" {form} "\"^^{shown(f"xsd:{kind}")}"' for kind, form in _TIMES.items()]
    predicates = [_quoted(shown(each)) for each in (*references.names(Kind.PREDICATE), *ALWAYS)]
    it = [_quoted(IT)] if chains else []
    yield f"node ::= {_either(['var', *named, *it])}"
    yield f"value ::= {_either([*named, 'literal'])}"
    yield "item ::= var | value"
    kind, classes = _quoted(shown("rdf:type")), map(shown, references.names(Kind.CLASS))
    yield f"predicate ::= {_either(predicates)}"
    yield f"link ::= {_either(one for one in predicates if one != kind)}"
    yield f'typed ::= node " " {kind} " " ({_either(["var", *map(_quoted, classes), *it])}) " ."'
    yield f"literal ::= {_either(['number', *times, *values])}"


def _paths() -> Iterator[str]:
    """Property paths: the innermost steps are predicates."""
    for depth in range(2):
        inner = f' | "(" path{depth + 1} ")"' if depth == 0 else ""
        step = f"(predicate{inner})"
        yield (
            f'path{depth} ::= {step} ("/" {step}){{1,3}} | {step} ("|" {step}){{1,3}} '
            f'| "^" {step} | {step} [*+?] '
            '| "!(" "^"? predicate ("|" "^"? predicate){0,3} ")"'
        )


def _expressions(kind: str, depth: int, casts: Sequence[str]) -> Iterator[str]:
    """Expressions of a group (`expr`) or of a head, if aggregates may stand (`head`)."""
    atoms = ["node", "literal", "tag", *(["aggregate"] if kind == "head" else [])]
    if depth == _LEVELS:
        yield f"{kind}{depth} ::= {_either(atoms)}"
        return
    within = f"{kind}{depth + 1}"
    operation = f'"(" {within} " " ({_either(map(_quoted, _OPERATORS))}) " " {within} ")"'
    among = f'"(" {within} " " "NOT "? "IN (" item (", " item){{0,9}} "))"'
    named = [*_ONE, *casts]
    calls = [
        f'({_either(map(_quoted, named))}) "(" {within} ")"',
        '"BOUND(" var ")"',
        f'({_either(map(_quoted, _TWO))}) "(" {within} ", " {within} ")"',
        f'({_either(map(_quoted, _THREE))}) "(" {within} ", " {within} ", " {within} ")"',
        f'({_either(map(_quoted, _MANY))}) "(" {within} (", " {within}){{1,4}} ")"',
        f'("!" | "-") "(" {within} ")"',
        '"NOW()"',
    ]
    yield f"{kind}{depth} ::= {_either([*atoms, f'{kind}op{depth}', f'{kind}call{depth}'])}"
    yield f"{kind}op{depth} ::= {operation} | {among}"
    yield f"{kind}call{depth} ::= {_either(calls)}"


def _either(choices: Iterable[str]) -> str:
    return " | ".join(choices)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@dataclass(frozen=True)
class PromptedWriter:
    """Writes queries with a language model, which is told what `prompt` says.

    `search` is how several are had: `beams` (the best of a beam search) or `samples` (as many
    independent replies at a temperature of 0.7). What a reply names beside
    what is listed, or what does not parse, makes it no hypothesis: fewer than `n` may come. A model
    that takes a grammar (`askgraph.llm.structured`) is held to one, unless it is not `constrained`.
    What is `known` of the question's words stands before it.

    The `form` is that of `References`; a plain writer is shown so many `shots` of the graph's
    examples, the most similar ones (Alekseev et al., NLDB 2025, section 5).
    """

    model: LanguageModel
    search: str = "samples"
    constrained: bool = True
    known: Sequence[str] = ()
    form: str = REFERENCES
    shots: int = 0

    async def write(
        self, question: Question, listed: Sequence[Listed], graph: KnowledgeGraph, *, n: int = 1
    ) -> list[Hypothesis]:
        """Write up to `n` different queries, most believed first.

        Raises what the model raises, `SetupError` if it has no beams and they are wanted.
        """
        references = References(listed, self.form)
        options = Options(n=n, max_tokens=_TOKENS, logprobs=True)
        if n > 1 and self.search == "beams":
            options["beams"] = True
        else:
            options["temperature"] = _TEMPERATURE if n > 1 else 0.0
        if self.constrained and takes_grammar(self.model):
            options["grammar"] = query_grammar(references)
        asked = self.messages(question.text, listed, graph)
        reply = await completed(self.model.complete(asked, **options))
        return read_hypotheses(reply.choices, references, graph.prefixes.namespaces)

    def messages(
        self, question: str, listed: Sequence[Listed], graph: KnowledgeGraph
    ) -> list[Message]:
        """Return the conversation that a query is the reply to."""
        task, asked = messages(question, References(listed, self.form), self.known)
        told = [task]
        if self.form == PLAIN and self.shots:
            similar = similar_examples(question, graph.examples, limit=self.shots)
            for example, _ in reversed(similar):
                told += [User(f"Question: {example.question}"), Assistant(example.query)]
        return [*told, asked]


def read_hypotheses(
    choices: Sequence[Choice], references: References, prefixes: Mapping[str, str] | None = None
) -> list[Hypothesis]:
    """Return the different queries in the choices, most likely first, as far as that is known.

    Those that say the same in other words are one, as likely as the likeliest of them.
    """

    def belief(one: Hypothesis) -> float:
        return float("-inf") if one.score is None else one.score

    found: dict[str, Hypothesis] = {}
    for choice in choices:
        try:
            query = checked(query_in(choice.text, references, prefixes)).text
        except QueryError:
            continue
        one = Hypothesis(query, choice.logprob)
        there = found.setdefault(canonical_query(query), one)
        if belief(one) > belief(there):
            found[canonical_query(query)] = one
    return sorted(found.values(), key=lambda one: -belief(one))
