"""Layout of a query that someone wrote: its terminals, read by the grammar and set out anew.

The tree (`askgraph.sparql.write.laid_out`) does not know how lists, blank nodes and parentheses
were written; here they stay.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile

from askgraph.errors import QuerySyntaxError
from askgraph.sparql.lexer import Cursor, Token, lexed
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.vocabulary import RDF_TYPE, XSD_BOOLEAN, XSD_INTEGER
from askgraph.sparql.write import (
    CAMEL,
    Names,
    Triples,
    braced,
    indented,
    opened,
    select_lines,
    union_lines,
    values_lines,
)

_BINARY = frozenset(["&&", "||", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "AS", "IN"])
_MODIFIERS = ("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES")
_TERMS = frozenset(["iri", "pname", "variable", "blank", "string", "number"])


def formatted(query: str, prefixes: PrefixMap, labels: Mapping[str, str]) -> str:
    """Return a query that someone wrote as a careful person writes it; it means the same.

    Prefixes are those of the map, then the query's own; only those used are declared. Patterns with
    the same subject stand together, one a line; a pattern written twice is kept once. Lists,
    parentheses and blank nodes stay as they were written. `labels` (IRI -> label) become comments
    if the IRI itself does not say the same. Comments before the query stay, others go. An update,
    text that is no SPARQL, or too deep, comes back unchanged.
    """
    try:
        given = lexed(query)
        names = Names(prefixes.with_prefixes(given.declared), labels)
        lines = _Layout(given.given, names, given.declared).query()
    except (QuerySyntaxError, IndexError, RecursionError):
        return query.strip()
    opening = takewhile(lambda token: token.kind == "comment", given.all)
    return "".join(f"{one.text.rstrip()}\n" for one in opening) + names.finished(lines)


@dataclass
class _Layout(Cursor):
    """Each method returns text, or lines without the indentation of what surrounds them."""

    names: Names
    declared: Mapping[str, str]

    def query(self) -> list[str]:
        lines = self.prologue()
        match self.take("SELECT", "ASK", "CONSTRUCT", "DESCRIBE"):
            case "SELECT":
                lines += self.select()
            case "ASK":
                lines += self.where(["ASK"], "")
            case "CONSTRUCT":
                lines += self.construct()
            case _:
                lines += self.describe()
        if self.at < len(self.given):
            raise QuerySyntaxError(f"{self.here.text!r} comes after the end of the query")
        return lines

    def prologue(self) -> list[str]:
        """Skip the PREFIX lines, which are written anew; keep a BASE."""
        lines = []
        while self.says("PREFIX", "BASE"):
            if self.take() == "BASE":
                lines.append(f"BASE {self.take()}")
            else:
                self.at += 2
        return lines

    def select(self) -> list[str]:
        """What follows the word SELECT, in a query or inside one."""
        items = ["SELECT"]
        if self.says("DISTINCT", "REDUCED"):
            items[0] += " " + self.take()
        while not self.says("WHERE", "{", "FROM"):
            items.append(self.parenthesised() if self.says("(") else self.term())
        return self.where(select_lines(items))

    def construct(self) -> list[str]:
        """What follows the word CONSTRUCT."""
        if not self.says("{"):
            return self.where(["CONSTRUCT"])
        template = self.group()
        before = ["CONSTRUCT {", *indented(template)]
        return self.where([*before, "}"])

    def describe(self) -> list[str]:
        """What follows the word DESCRIBE; its WHERE may be missing."""
        items = ["DESCRIBE"]
        while self.at < len(self.given) and not self.says("WHERE", "{", "FROM", *_MODIFIERS):
            items.append(self.term())
        return self.where([" ".join(items)])

    def where(self, heads: list[str], keyword: str = "WHERE") -> list[str]:
        """FROM clauses, the WHERE group and what follows it, after the lines before them."""
        lines = list(heads)
        while self.says("FROM"):
            words = [self.take()] + ([self.take()] if self.says("NAMED") else [])
            lines.append(" ".join([*words, self.term()]))
        self.skip("WHERE")
        if self.says("{"):
            lines = opened(lines, keyword, self.group())
        return lines + self.modifiers()

    def modifiers(self) -> list[str]:
        """GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET and VALUES, one a line."""
        lines = []
        while self.says(*_MODIFIERS):
            word = self.take()
            if word == "VALUES":
                lines += self.values()
                continue
            if word in ("GROUP", "ORDER"):
                word += " " + self.take("BY")
            lines.append(" ".join([word, *self.conditions()]))
        return lines

    def conditions(self) -> list[str]:
        """The variables, calls and expressions after GROUP BY, HAVING, ORDER BY or LIMIT."""
        found = []
        while self.at < len(self.given) and not self.says("}", *_MODIFIERS):
            found.append(self.operand())
        return found

    def group(self) -> list[str]:
        """The lines between a `{` and its `}`."""
        self.take("{")
        lines: list[str] = []
        if self.skip("SELECT"):
            lines = self.select()
        block = Triples()
        while not self.skip("}"):
            if self.skip("."):
                continue
            if (other := self.no_triples()) is not None:
                lines += block.lines() + other
                block = Triples()
            else:
                self.statement(block)
        return lines + block.lines()

    def no_triples(self) -> list[str] | None:
        """One element of a group other than triple patterns; None if triples come."""
        if self.says("{"):
            return self.union()
        if self.says("OPTIONAL", "MINUS", "GRAPH", "SERVICE"):
            words = [self.take()]
            while not self.says("{"):
                words.append(self.take() if self.says("SILENT") else self.term())
            return braced(" ".join(words) + " ", self.group())
        if self.skip("FILTER"):
            return f"FILTER{self.constraint()}".split("\n")
        if self.says("BIND"):
            return (self.take() + self.parenthesised()).split("\n")
        if self.skip("VALUES"):
            return self.values()
        return None

    def union(self) -> list[str]:
        """Groups with UNION between them."""
        parts = [self.group()]
        while self.skip("UNION"):
            parts.append(self.group())
        return union_lines(parts)

    def values(self) -> list[str]:
        """What follows the word VALUES."""
        tuples = self.says("(")
        head = self.listed() if tuples else self.term()
        self.take("{")
        rows = []
        while not self.skip("}"):
            rows.append(self.listed() if tuples else self.term())
        return values_lines(head, rows, tuples=tuples)

    def listed(self) -> str:
        """Terms between parentheses."""
        self.take("(")
        terms = []
        while not self.skip(")"):
            terms.append(self.term())
        return f"({' '.join(terms)})"

    def statement(self, block: Triples) -> None:
        """A subject with its predicates and objects."""
        subject = self.node()
        pairs = [] if self.says(".", "}") and subject[0] in "[(" else self.pairs()
        block.add(subject, [(verb, objects, _is_path(verb)) for verb, objects in pairs])

    def pairs(self) -> list[tuple[str, str]]:
        """Predicates and objects after a subject."""
        found = []
        while not self.says(".", "}", "]"):
            verb = self.term() if self.here.kind == "variable" else self.path()
            if verb == self.names.of(RDF_TYPE):
                verb = "a"
            objects = [self.node()]
            while self.skip(","):
                objects.append(self.node())
            found += [(verb, ", ".join(objects))]
            if not self.says(";"):
                break
            while self.skip(";"):
                pass
        return found

    def node(self) -> str:
        """A term, a blank node with its patterns, or a collection."""
        if self.skip("["):
            pairs = " ; ".join(" ".join(pair) for pair in self.pairs())
            self.take("]")
            return f"[ {pairs} ]" if pairs else "[]"
        if self.skip("("):
            nodes = []
            while not self.skip(")"):
                nodes.append(self.node())
            return f"({' '.join(nodes)})"
        return self.term()

    def path(self) -> str:
        """A property path; the alternatives inside stay where they are."""
        text = self.path_step()
        while self.says("/", "|"):
            text += self.take() + self.path_step()
        return text

    def path_step(self) -> str:
        """One step of a path: inverse, negated, in parentheses, with its `*`, `+` or `?`."""
        text = ""
        while self.says("^", "!"):
            text += self.take()
        if self.skip("("):
            text += f"({'' if self.says(')') else self.path()})"
            self.take(")")
        elif self.says("A"):
            text += self.take().lower()
        elif self.here.kind in ("iri", "pname"):
            text += self.term()
        else:
            raise QuerySyntaxError(f"{self.here.text!r} is no predicate")
        if self.says("*", "+", "?"):
            text += self.take()
        return text

    def term(self) -> str:
        """One term, variable, `*`, UNDEF, true or false, with its sign, language or datatype."""
        sign = self.take() if self.says("-", "+") else ""
        token, is_word = self.here, self.says("*", "UNDEF", "TRUE", "FALSE")
        self.at += 1
        if token.kind in ("iri", "pname"):
            return self.written(token)
        if token.kind == "string":
            return self.literal(token)
        if token.kind in _TERMS:
            return sign + token.text
        if is_word:
            return CAMEL.get(token.text.lower(), token.text.upper())
        raise QuerySyntaxError(f"{token.text!r} stands where a term should")

    def literal(self, token: Token) -> str:
        """A string, in double quotes on one line, with its language or datatype."""
        text = _quoted(token.text)
        if self.at < len(self.given) and self.here.kind == "language":
            return text + self.take()
        if not self.says("^^"):
            return text
        self.take()
        datatype = self.term()
        bare = text[1:-1]
        integer = re.fullmatch(r"0|[1-9]\d*", bare) and datatype == self.names.of(XSD_INTEGER)
        boolean = bare in ("true", "false") and datatype == self.names.of(XSD_BOOLEAN)
        return bare if integer or boolean else f"{text}^^{datatype}"

    def written(self, token: Token) -> str:
        """An IRI or a prefixed name as the shortest name there is."""
        iri = self.iri(token)
        return token.text if iri is None else self.names.of(iri)

    def iri(self, token: Token) -> str | None:
        """The IRI that a token means; None for a relative one or an unknown prefix."""
        if token.kind == "iri":
            iri = token.text[1:-1]
            return iri if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", iri) else None
        prefix, _, local = token.text.partition(":")
        namespace = self.declared.get(prefix, self.names.prefixes.namespaces.get(prefix))
        return None if namespace is None else namespace + re.sub(r"\\(.)", r"\1", local)

    def constraint(self) -> str:
        """What follows FILTER: an expression in parentheses, a call, or [NOT] EXISTS."""
        return self.parenthesised() if self.says("(") else " " + self.operand()

    def parenthesised(self) -> str:
        """An expression, or several with commas, from its `(` to its `)`."""
        self.take("(")
        text = "("
        after_operand = False
        while not self.skip(")"):
            separator = self.separator(after_operand=after_operand)
            if after_operand and not separator:
                raise QuerySyntaxError(f"{self.here.text!r} stands where an operator should")
            text += separator or self.operand()
            after_operand = not separator
        return text + ")"

    def separator(self, *, after_operand: bool) -> str:
        """An operator or comma with the spaces around it; empty if an operand comes."""
        if self.says(",", ";"):
            return self.take() + " "
        if self.says("!") or (self.says("-", "+") and not after_operand):
            return self.take()
        if self.says("NOT") and after_operand:
            return f" {self.take()} {self.take('IN')} "
        if self.says("DISTINCT"):
            return self.take() + " "
        if self.says(*_BINARY) and after_operand:
            return f" {self.take()} "
        return ""

    def operand(self) -> str:
        """A term, a call, an expression in parentheses, or [NOT] EXISTS."""
        if self.says("("):
            return self.parenthesised()
        if self.says("NOT", "EXISTS"):
            words = self.take() + " "
            words += "" if words == "EXISTS " else self.take("EXISTS") + " "
            return "\n".join(braced(words, self.group()))
        if self.here.kind == "word" and not self.says("TRUE", "FALSE"):
            word = self.take()
            if word == "SEPARATOR" and self.says("="):
                return word + self.take() + self.term()
            name = CAMEL.get(word.lower(), word)
            return name + (self.parenthesised() if self.says("(") else "")
        term = self.term()
        return (
            term + self.parenthesised()
            if self.says("(") and term[-1] not in '"0123456789'
            else term
        )


def _is_path(verb: str) -> bool:
    return bool(re.search(r"[/|^*+()!]|\?$", re.sub(r"<[^<>]*>|\\.", "", verb)))


def _quoted(text: str) -> str:
    """A string terminal in double quotes on one line."""
    mark = text[:3] if text[:3] in ('"""', "'''") else text[0]
    inner = text[len(mark) : -len(mark)]
    if mark != '"':
        pairs = re.findall(r"\\.|[^\\]", inner, re.DOTALL)
        inner = "".join({'"': '\\"', "\\'": "'"}.get(pair, pair) for pair in pairs)
    return f'"{inner}"'.replace("\n", "\\n").replace("\r", "\\r")
