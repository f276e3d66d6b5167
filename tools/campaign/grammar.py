"""Queries drawn from the grammar of SPARQL 1.1, whole and slightly broken, down every way there is.

    python -m tools.campaign.grammar [--number 1500] [--sent 250] [--seed 0] [--json FILE]

Each is judged, read, written, laid out and put in words by the library, and some are sent to every
route of a server that reads a query. It is survived if nothing but errors of askgraph's own comes,
in time that grows with its length; if Oxigraph and askgraph agree on what is an update; if laying
out or writing a second time changes nothing; and if what was laid out or written gives what the
query itself gives, over a small graph.
"""

import contextlib
import itertools
import re
import sys
import time
import tomllib
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from random import Random

from pyoxigraph import BlankNode, QueryBoolean, QueryTriples, RdfFormat, Store
from tools.campaign._tries import Tried, listen, main, send_query, serve

from askgraph.answers.query_parts import describe_query
from askgraph.answers.verbalize import verbalize_query
from askgraph.errors import AskgraphError, ForbiddenQuery, QuerySyntaxError
from askgraph.sparql.judge import admit_query, check_query
from askgraph.sparql.parser import parse_tree
from askgraph.sparql.prefixes import PrefixMap
from askgraph.sparql.rewrite import lay_out_query
from askgraph.sparql.serializer import format_tree, to_text
from askgraph.workspace import Workspace

DEPTH = 16
NOBODY = "http://127.0.0.1:9/"
PREFIXES = PrefixMap({"e": "https://e.org/", "": "https://e.org/a/", "é-1.x": "https://e.org/#"})
RANDOM = re.compile(r"RAND|NOW|UUID|BNODE|SAMPLE|GROUP_CONCAT|LIMIT|OFFSET|_:|REDUCED", re.I)
SECONDS = (0.3, 1 / 10_000)  # of the processor: for any query, and for each character
_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
BROKEN: Sequence[str] = _WORDS["broken"]
SMALL: str = _WORDS["small"]
DRAWN: Mapping[str, Sequence[str]] = _WORDS["drawn"]
"""What the words in capitals are, {n} being a new number each time."""


@cache
def grammar() -> dict[str, list[list[str]]]:
    """Return the alternatives of each rule: words, quoted, rules, with what repeats them."""
    found = {}
    for line in Path(__file__).with_name("sparql11.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, rest = line.partition(" = ")
            words = re.findall(r'"[^"]*"\S?|\S+', rest)
            groups = itertools.groupby(words, "|".__ne__)
            found[name] = [list(group) for fits, group in groups if fits]
    return found


@cache
def height(name: str, seen: tuple[str, ...] = ()) -> float:
    """Return how deep the flattest text of a rule is."""
    if name in seen:
        return float("inf")
    return min(reach(one, (*seen, name)) for one in grammar()[name])


def reach(words: list[str], seen: tuple[str, ...] = ()) -> float:
    """Return how deep the flattest text of an alternative is."""
    needed = [word.rstrip("+") for word in words if word[-1] not in "?*"]
    return max((1 + height(word, seen) for word in needed if word in grammar()), default=1)


class Drawn:
    """Texts drawn by chance; the same seed draws the same."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        self._new = 0

    def text(self) -> str:
        """Draw a query or an update, its words in any case, with any space between them."""
        gap = self._chance.choice((" ", " ", "\n", "\t", " # }\n", "  "))
        return gap.join(self._drawn("text", 0))

    def piece(self) -> str:
        """Draw a piece of a group, with no braces to close."""
        return " ".join(self._drawn(self._chance.choice(("next", "subject")), 4)) + " . "

    def broken(self, text: str) -> str:
        """Return a text with one to three small things wrong."""
        words = re.findall(r"\s+|\w+|\W", text)
        for _ in range(self._chance.randint(1, 3)):
            if (at := spoil(words, self._chance, BROKEN, turned=3)) is not None:
                del words[at + self._chance.randrange(40) :]
        return "".join(words)

    def _drawn(self, name: str, depth: int) -> Iterator[str]:
        if name.isupper():
            self._new += 1
            yield self._chance.choice(DRAWN[name]).replace("{n}", str(self._new))
            return
        ways = grammar()[name]
        if depth > DEPTH:
            ways = sorted(ways, key=reach)[:1]
        for word in self._chance.choice(ways):
            yield from self._repeated(word, depth + 1)

    def _repeated(self, word: str, depth: int) -> Iterator[str]:
        kind = word[-1] if word[-1] in "?*+" and word[0] != word[-1] else ""
        times = {"?": (0, 1), "*": (0, 2), "+": (1, 3), "": (1, 1)}[kind]
        if depth > DEPTH:
            times = times[0], times[0]
        bare = word.removesuffix(kind)
        for _ in range(self._chance.randint(*times)):
            if bare.startswith('"'):
                text = bare.strip('"')
                yield text if text == "a" else self._chance.choice((str, str, str.lower))(text)
            else:
                yield from self._drawn(bare, depth)


def spoil(words: list[str], chance: Random, pasted: Sequence[str], *, turned: int) -> int | None:
    """Lose, repeat, paste or turn words, at a place by chance; return the place if none is done."""
    at = chance.randrange(len(words) + 1)
    match chance.randrange(5):
        case 0:
            del words[at : at + 1]
        case 1:
            words[at:at] = words[at : at + 3]
        case 2:
            words[at:at] = [chance.choice(pasted)]
        case 3:
            words[at : at + turned] = reversed(words[at : at + turned])
        case _:
            return at
    return None


@cache
def small() -> Store:
    """Return the small graph."""
    store = Store()
    store.load(SMALL.encode(), RdfFormat.TURTLE)
    return store


def understood(text: str, *, update: bool) -> bool:
    """Whether Oxigraph parses a text as a query, or as an update."""
    store = Store()
    try:
        store.update(text) if update else store.query(text)
    except SyntaxError:
        return False
    except (OSError, RuntimeError, ValueError):
        return True
    return True


def given_by(text: str) -> object:
    """Return what a query gives over the small graph, in no order; None if that is too much."""
    try:
        found = small().query(text)
        if isinstance(found, QueryBoolean):
            return bool(found)
        rows = list(itertools.islice(found, 2_001))
    except (OSError, RuntimeError, ValueError) as problem:
        return type(problem).__name__
    if len(rows) > 2_000:
        return None
    if isinstance(found, QueryTriples):
        return Counter(str(row) for row in rows if "_:" not in str(row))
    named = sorted(one.value for one in found.variables if not one.value.startswith("__"))
    return Counter(tuple(shown(row[name]) for name in named) for row in rows)


def shown(term: object) -> str:
    """Return a term as text that is the same in another run."""
    return "_:" if isinstance(term, BlankNode) else str(term)


class Down:
    """One text down the ways of the library; `faults` are what was not survived."""

    def __init__(self, text: str, *, whole: bool) -> None:
        self.text = text
        self.whole = whole  # that is, as the grammar has it: words run together are none of ours
        self.faults: list[str] = []
        self.slowest = 0.0

    def tried(self, name: str, work: Callable[[], str]) -> str | AskgraphError | None:
        """Do it; an error of ours is given back, any other is a fault."""
        began = time.process_time()
        result: str | AskgraphError | None = None
        try:
            result = work()
        except AskgraphError as error:
            result = error
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            self.faults.append(f"{name}: {type(error).__name__}: {error}"[:200])
        took = time.process_time() - began
        self.slowest = max(self.slowest, took)
        if took > SECONDS[0] + SECONDS[1] * len(self.text):
            self.faults.append(f"{name}: {took:.2f} s for {len(self.text)} characters")
        return result

    def judged(self, *, is_query: bool) -> None:
        """Both judges, beside Oxigraph's."""
        is_update = not is_query and understood(self.text, update=True)
        calls = is_query and re.search(r"\bSERVICE\b", bare(self.text), re.I)
        for name, judge in (("admitted", admit_query), ("checked", check_query)):
            found = self.tried(name, lambda judge=judge: judge(self.text).form)  # type: ignore[misc]
            refused = isinstance(found, ForbiddenQuery) and "service" not in str(found).lower()
            if isinstance(found, str) and is_update:
                self.faults.append(f"{name}: an update is taken for {found}")
            if isinstance(found, str) and calls:
                self.faults.append(f"{name}: a SERVICE is let through")
            if is_query and refused:
                self.faults.append(f"{name}: a query is taken for an update: {found}")

    def rewritten(self, *, is_query: bool) -> None:
        """Laid out, and read and written: it stays what it was."""
        before = given_by(self.text) if is_query and not RANDOM.search(self.text) else None
        for name, work in (
            ("formatted", lambda text: lay_out_query(text, PREFIXES, {})),
            ("text_of", lambda text: str(to_text(parse_tree(text)))),
            ("laid_out", lambda text: str(format_tree(parse_tree(text), PREFIXES))),
        ):
            once = self.tried(name, lambda work=work: work(self.text))  # type: ignore[misc]
            if isinstance(once, QuerySyntaxError) and is_query and self.whole:
                self.faults.append(f"{name}: {once}")
            if not isinstance(once, str):
                continue
            again = self.tried(name, lambda work=work, once=once: work(once))  # type: ignore[misc]
            if again != once:
                self.faults.append(f"{name} again: {again!r} of {once!r}"[:600])
            if is_query and not understood(once, update=False):
                self.faults.append(f"{name} is no query: {once!r}"[:400])
            elif is_query and before is not None and given_by(once) not in (before, None):
                self.faults.append(f"{name} gives something else: {once!r}"[:400])


def bare(text: str) -> str:
    """Return a query without its strings, comments and IRIs."""
    quoted = r"'''.*?'''|\"\"\".*?\"\"\"|'[^'\n]*'|\"[^\"\n]*\"|<[^ <>]*>|#[^\n]*"
    return re.sub(quoted, " ", text, flags=re.DOTALL)


def down(text: str, *, whole: bool) -> Down:
    """Send a text down the ways of the library."""
    found = Down(text, whole=whole)
    is_query = understood(text, update=False)
    found.judged(is_query=is_query)
    found.rewritten(is_query=is_query)
    found.tried("in_words", lambda: verbalize_query(text, {}))
    found.tried("read_back", lambda: str(describe_query(text, {}, language="en")))
    return found


def grown(drawn: Drawn, number: int) -> Iterator[Tried]:
    """Pieces of a group, repeated: four times as many take at most eight times as long."""
    ways: dict[str, Callable[[str], object]] = {
        "admitted": admit_query,
        "formatted": lambda text: lay_out_query(text, PREFIXES, {}),
        "text_of": lambda text: to_text(parse_tree(text)),
        "in_words": lambda text: verbalize_query(text, {}),
    }
    for _ in range(number):
        piece = drawn.piece()
        for name, work in ways.items():
            took = []
            for characters in (5_000, 20_000):
                text = f"SELECT * WHERE {{ {piece * (characters // len(piece) + 1)} }}"
                began = time.process_time()
                with contextlib.suppress(AskgraphError):
                    work(text)
                took.append(time.process_time() - began)
            fault = "" if took[1] <= 8 * took[0] + 0.5 else f"{took[0]:.2f} s, then {took[1]:.2f} s"
            yield Tried("grown", f"{name} {piece!r}", fault, took[1])


def over_rest(folder: Path, texts: list[str]) -> Iterator[Tried]:
    """Send texts to a server; a status of 500, no reply, or a SERVICE that is called is a fault."""
    (folder / "small.ttl").write_text(SMALL)
    Workspace(folder).add("small", [folder / "small.ttl"])
    with listen() as (address, calls), serve(folder) as (client, _), ThreadPoolExecutor(4) as pool:

        def send(text: str) -> Tried:
            began = time.monotonic()
            faults = [
                f"{route} {reply.status_code} {reply.text[:200]}"
                for route, reply in send_query(client, text, "small")
                if reply.status_code >= 500
            ]
            return Tried("over REST", repr(text), "; ".join(faults), time.monotonic() - began)

        yield from pool.map(send, (text.replace(NOBODY, f"{address}/") for text in texts))
        fault = f"called {len(calls)} times" if calls else ""
        yield Tried("a SERVICE", "of all of these", fault)


def campaign(folder: Path, given: Namespace) -> Iterator[Tried]:
    """Draw texts, and try each."""
    drawn = Drawn(given.seed)
    texts = []
    for number in range(given.number):
        text = drawn.text()
        texts.append(text := drawn.broken(text) if number % 2 else text)
        one = down(text, whole=number % 2 == 0)
        kind = "broken" if number % 2 else "as the grammar has it"
        yield Tried(kind, repr(text), "; ".join(one.faults), one.slowest)
    yield from grown(drawn, given.number // 50)
    yield from over_rest(folder, texts[: given.sent])


if __name__ == "__main__":
    options = {
        "number": (1500, "texts for the library"),
        "sent": (250, "of these for a server, too"),
        "seed": (0, "another draws others"),
    }
    sys.exit(main(__doc__, campaign, numbers=options))
