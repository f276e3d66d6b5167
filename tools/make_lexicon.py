"""A lexicon from WordNet: what graph search knows of English words besides their spelling.

    apt-get install wordnet-base
    python tools/make_lexicon.py             # writes wordnet.txt and its licence into the package
    python tools/make_lexicon.py --check     # 1 if the package's file is not what this would write

The file is sorted text, one line a word (a stem, as the index of names has them), which
`askgraph.search.link.lexicon` describes and reads. The same WordNet gives the same bytes.
"""

import argparse
import gzip
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path

from askgraph.index.names import split_tokens, stem_word
from askgraph.search.link.lexicon import LEXICON, LICENCE
from askgraph.search.tokenize.word_lists import get_word_list

_FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_KEPT = 28  # relatives of a word at most, the nearest first
_LEAST = 0.2  # the weight below which two words are not akin
_UP = (1.0, 0.8, 0.64, 0.52, 0.42)  # what each step to a more general noun leaves of the weight
_DOWN = 0.7  # the same of a step to more special ones
_VERB, _COMPOSED = 0.7, 0.8  # what a step between verbs and a second relation leave
_DERIVED = 0.55
"""The weight of a derived word at least: that it is of one family shows in any sense."""
_TOO_GENERAL = 800  # A noun with more special ones below it than this says nothing of them …
_STILL_TOLD = frozenset({"person", "organization", "location", "event", "animal", "document"})
"""… but for these, which graphs have for classes."""
_PERSONS = "18"  # WordNet's file of persons: each is one, however many steps lie between
_SEVERAL = 7  # the tenths of weight from which on several words are kept as akin to one
_RARE = 3  # A word is left out that tagged texts and WordNet's own explanations use less often
_MUCH = "high|great|large|big|considerable|long|much|full"
_LITTLE = "low|little|small|short|lacking|limited|reduced|less|not great|not much"
_SCALE = re.compile(
    rf"\b(?P<deg>{_MUCH}|{_LITTLE}) (?:in|of) (?P<noun>[a-z]+)"
    rf"|\b(?:having|of|with|at|requiring) (?:a |an )?(?:relatively |very |unusually )?"
    rf"(?P<deg2>{_MUCH}|{_LITTLE}) (?P<noun2>[a-z]+)"
)
_OF_SCALE = ("ness", "ity", "th", "cy", "ce", "ty", "ment")  # what nouns made of adjectives end in
_NEGATED = re.compile(r"^(?:un|in|im|ir|il|dis|non)|less$")
_NATIVE = re.compile(r"\bnative or inhabitant of (?:the )?([A-Z][\w. -]+?)(?:$|[;,(\"]| or )")

Sense = tuple[str, str]  # part of speech (s written a), offset


@dataclass(frozen=True)
class Synset:
    """Words of one meaning; `links` are (kind, target, word here, word there), 0 for all words."""

    words: tuple[str, ...]
    file: str
    links: tuple[tuple[str, Sense, int, int], ...]
    gloss: str


@dataclass
class WordNet:
    """WordNet as its files have it."""

    folder: Path
    synsets: dict[Sense, Synset] = field(default_factory=dict)
    senses: dict[str, list[Sense]] = field(default_factory=lambda: defaultdict(list))
    counts: Counter[tuple[str, Sense]] = field(default_factory=Counter)
    irregular: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def __post_init__(self) -> None:
        """Read the files."""
        for short, name in _FILES.items():
            for line in self._lines(f"data.{name}"):
                offset, synset = _synset(line)
                self.synsets[short, offset] = synset
            tagged = self._tagged(short)
            for line in self._lines(f"index.{name}"):
                word, _, many, pointers, *rest = line.split()
                for rank, offset in enumerate(rest[int(pointers) + 2 :][: int(many)], 1):
                    self.senses[word].append((short, offset))
                    self.counts[word, (short, offset)] = tagged.get((word, rank), 0)
            for line in self._lines(f"{name}.exc"):
                bent, *words = line.split()
                self.irregular[bent].update(words)

    def _lines(self, name: str) -> Iterator[str]:
        for line in (self.folder / name).read_text("utf-8").splitlines():
            if not line.startswith("  "):
                yield line

    def _tagged(self, short: str) -> dict[tuple[str, int], int]:
        """How often each sense of a word stands in the texts that were tagged."""
        kinds = {"n": "1", "v": "2", "a": "35", "r": "4"}[short]
        found = {}
        for line in self._lines("cntlist.rev"):
            key, rank, count = line.split()
            word, _, rest = key.partition("%")
            if rest[0] in kinds:
                found[word, int(rank)] = int(count)
        return found

    @cached_property
    def used(self) -> Counter[str]:
        """How often texts and explanations use a word."""
        found: Counter[str] = Counter()
        for (word, _), count in self.counts.items():
            found[word] += count
        for synset in self.synsets.values():
            found.update(re.findall(r"[a-z]+", synset.gloss.lower()))
        return found

    @cached_property
    def share(self) -> Mapping[tuple[str, Sense], float]:
        """How likely each sense of a word is, by the texts and by its rank."""
        found = {}
        for word, senses in self.senses.items():
            ranks: Counter[str] = Counter()
            raw = {}
            for sense in senses:
                ranks[sense[0]] += 1
                raw[sense] = self.counts[word, sense] + 0.5 / ranks[sense[0]]
            total = sum(raw.values())
            found.update({(word, sense): one / total for sense, one in raw.items()})
        return found

    def mean(self, share: float, word: str, sense: Sense) -> float:
        """The geometric mean of a share and that of another word's sense."""
        return math.sqrt(share * self.share.get((word.lower(), sense), 0.0))

    @cached_property
    def below(self) -> Mapping[Sense, int]:
        """How many nouns lie below each."""
        found: Counter[Sense] = Counter()
        for sense in self.synsets:
            if sense[0] == "n":
                above, rest = set(), [sense]
                while rest:
                    for parent in self.linked(rest.pop(), "@"):
                        if parent not in above:
                            above.add(parent)
                            rest.append(parent)
                found.update(above)
        return found

    def linked(self, sense: Sense, kinds: str) -> list[Sense]:
        """What a meaning as a whole is linked to."""
        return [to for kind, to, _, _ in self.synsets[sense].links if kind in kinds.split()]

    def related(self, word: str, sense: Sense, kinds: str) -> Iterator[tuple[str, Sense]]:
        """The words that a word in one meaning is linked to."""
        synset = self.synsets[sense]
        for kind, to, here, there in synset.links:
            if kind not in kinds.split():
                continue
            if here and synset.words[here - 1].lower() != word:
                continue
            theirs = self.synsets[to].words
            for other in theirs[there - 1 : there] if there else theirs:
                yield other, to


def _synset(line: str) -> tuple[str, Synset]:
    body, _, gloss = line.partition(" | ")
    cells = body.split()
    many = int(cells[3], 16)
    words = tuple(re.sub(r"\([a-z]+\)$", "", cells[4 + 2 * at]) for at in range(many))
    at = 4 + 2 * many
    links = []
    for place in range(at + 1, at + 1 + 4 * int(cells[at]), 4):
        kind, offset, short, ends = cells[place : place + 4]
        links.append(
            (kind, (short.replace("s", "a"), offset), int(ends[:2], 16), int(ends[2:], 16))
        )
    return cells[0], Synset(words, cells[1], tuple(links), gloss.strip())


Relation = tuple[str, str, float]  # its kind, the other word, its weight


def _find_relatives(net: WordNet, word: str) -> dict[tuple[str, str], float]:
    """Return the relatives of one word, each with its best relation."""
    found: dict[tuple[str, str], float] = {}
    for sense in net.senses.get(word, ()):
        share = net.share[word, sense]
        for how, other, weight in chain.from_iterable(
            find(net, word, sense, share)
            for find in (_same, _derived, _general, _special, _places, _scales)
        ):
            said = _said(other)
            if "_" not in said and how not in "+-" and net.used[other.lower()] < _RARE:
                continue
            if said and said != _said(word) and weight >= _LEAST:
                found[how, said] = max(found.get((how, said), 0.0), min(weight, 1.0))
    return found


def _same(net: WordNet, word: str, sense: Sense, share: float) -> Iterator[Relation]:
    """Words of the same meaning, and words derived of these."""
    for other in net.synsets[sense].words if sense[0] in "nv" else ():
        weight = net.mean(share, other, sense)
        yield "s", other, weight
        for derived, to in net.related(other.lower(), sense, "+"):
            kind = _family(net, sense, to, "s")
            yield kind, derived, _COMPOSED * weight * net.mean(1.0, derived, to)


def _derived(net: WordNet, word: str, sense: Sense, share: float) -> Iterator[Relation]:
    """Words made of this one, or of which it is made; in a rare sense they count for less."""
    least = _DERIVED * min(1.0, share / 0.15)
    for other, to in net.related(word, sense, "+ \\ <"):
        yield _family(net, sense, to, "d"), other, max(net.mean(share, other, to), least)
        for again, last in net.related(other.lower(), to, "+"):
            weight = _COMPOSED * max(net.mean(share, again, last), least)
            yield _family(net, sense, last, "d"), again, weight


def _family(net: WordNet, sense: Sense, to: Sense, how: str) -> str:
    """The relation to a word made of another; to the doer of something it is one of its own."""
    files = [net.synsets[one].file for one in (sense, to) if one[0] == "n"]
    doer = to[0] == "n" and files[-1] == _PERSONS and files[:-1] != [_PERSONS]
    return "g" if doer else how


def _general(net: WordNet, word: str, sense: Sense, share: float) -> Iterator[Relation]:
    """More general nouns."""
    level, seen = [sense] if sense[0] == "n" else [], {sense}
    for step, left in enumerate(_UP[1:], 1):
        level = [p for one in level for p in net.linked(one, "@") if p not in seen]
        seen.update(level)
        for parent in level:
            few = net.below[parent] <= _TOO_GENERAL and step <= 2
            for other in net.synsets[parent].words:
                if few or other in _STILL_TOLD:
                    yield "u", other, left * net.mean(share, other, parent)
    if sense[0] == "n" and net.synsets[sense].file == _PERSONS:
        yield "u", "person", _UP[-1] * math.sqrt(share)


def _special(net: WordNet, word: str, sense: Sense, share: float) -> Iterator[Relation]:
    """More special nouns; verbs that are more special or more general."""
    steps = {"v": ("s", "@ ~", _VERB), "n": ("l", "~", _DOWN)}
    how, kinds, left = steps.get(sense[0], ("", "", 0.0))
    for near in net.linked(sense, kinds):
        for other in net.synsets[near].words:
            yield how, other, left * net.mean(share, other, near)


def _places(net: WordNet, word: str, sense: Sense, share: float) -> Iterator[Relation]:
    """What a people, a language or an adjective of a place is called after."""
    synset = net.synsets[sense]
    if not synset.words[0][:1].isupper():
        return
    for other, to in net.related(word, sense, "+ \\"):
        if to[0] == "n" and other[:1].isupper() and net.synsets[to].file == "15":
            for name in net.synsets[to].words:
                yield "n", name, max(0.7, math.sqrt(share))
    if sense[0] == "n" and (found := _NATIVE.search(synset.gloss)):
        yield "n", found.group(1), 0.9


def _scales(net: WordNet, word: str, sense: Sense, share: float) -> Iterator[Relation]:
    """The nouns of the scale that an adjective lies on, and the end at which."""
    if sense[0] == "a":
        for head, left in [(sense, 1.0), *((head, 0.75) for head in net.linked(sense, "&"))]:
            for noun, up, weight in _scale(net, head):
                yield "+" if up else "-", noun, left * weight * math.sqrt(share)


def _scale(net: WordNet, sense: Sense) -> Iterator[tuple[str, bool, float]]:
    """The nouns of a scale, whether the adjective means much of them, and how surely."""
    synset = net.synsets[sense]
    said = _SCALE.search(synset.gloss.split(";")[0])
    much = None if said is None else re.fullmatch(_MUCH, said["deg"] or said["deg2"]) is not None
    noun = "" if said is None else said["noun"] or said["noun2"]
    if much is not None and any(one[0] == "n" for one in net.senses.get(noun, ())):
        yield noun, much, 1.0
    against = net.linked(sense, "!")
    own, theirs = (_nouns(net, listed) for listed in ([sense], against))
    for to in net.linked(sense, "="):
        words = net.synsets[to].words
        way = _direction(words, own, theirs, much)
        if way is None and against:
            way = not _NEGATED.match(synset.words[0])
        for word in words if way is not None else ():
            yield word, bool(way), 0.9
    for word in sorted(own):
        if word.endswith(_OF_SCALE):
            yield word, True, 0.8


def _direction(
    nouns: Sequence[str], own: set[str], theirs: set[str], much: bool | None
) -> bool | None:
    """Whether an adjective means much of what nouns measure, by what they are made of."""
    if own.intersection(nouns):
        return True if much is None else much
    return False if theirs.intersection(nouns) else much


def _nouns(net: WordNet, senses: Sequence[Sense]) -> set[str]:
    """The nouns made of words of some meanings."""
    return {
        word
        for sense in senses
        for kind, to, _, _ in net.synsets[sense].links
        if kind == "+" and to[0] == "n"
        for word in net.synsets[to].words
    }


def _said(word: str) -> str:
    """A word as the index of names has it: stems, those of several words with an underscore."""
    return "_".join(stem_word(token) for token in split_tokens(word.replace("_", " ")))


def entries(net: WordNet) -> dict[str, dict[tuple[str, str], float]]:
    """The relatives of each word that is kept, by kind and word, with their weights."""
    functional = get_word_list("en").stop_words
    found: dict[str, dict[tuple[str, str], float]] = {}
    for word in sorted(net.senses):
        key = _said(word)
        if not key.isalpha() or len(key) < 3 or key in functional or net.used[word] < _RARE:
            continue
        for relation, weight in _find_relatives(net, word).items():
            if relation[1] != key:
                own = found.setdefault(key, {})
                own[relation] = max(own.get(relation, 0.0), weight)
    for bent, words in sorted(net.irregular.items()):
        for word in sorted(words):
            key, base = _said(bent), _said(word)
            if key.isalpha() and base.isalpha() and key != base and base in found:
                found.setdefault(key, {})["=", base] = 1.0
    return found


def text_of(found: Mapping[str, Mapping[tuple[str, str], float]]) -> bytes:
    """The lexicon as a file: a line for each word, its relatives best first."""
    lines = []
    for key in sorted(found, key=str.encode):
        best: dict[str, tuple[str, int]] = {}
        cells = []
        for (how, other), weight in sorted(found[key].items(), key=lambda e: (-e[1], e[0])):
            grade = min(9, round(10 * weight))
            if grade < 2 or (how in "sdulg" and other in best):
                continue
            if "_" in other and (how not in "sn" or grade < _SEVERAL or other.count("_") > 2):
                continue
            if how in "sdulg":
                best[other] = how, grade
            cells.append(f"{how}{grade}{other}")
        scales = [cell for cell in cells if cell[0] in "+-=n"]
        others = [cell for cell in cells if cell[0] not in "+-=n"]
        if kept := scales[:10] + others[: _KEPT - min(len(scales), 10)]:
            lines.append(f"{key} {' '.join(kept)}")
    return ("\n".join(lines) + "\n").encode()


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the lexicon and its licence, or compare them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--wordnet", type=Path, default=Path("/usr/share/wordnet"))
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args(arguments)
    text = text_of(entries(WordNet(given.wordnet)))
    licence = _licence((given.wordnet / "data.noun").read_text("utf-8"))
    if given.check:
        same = LEXICON.read_bytes() == text and LICENCE.read_text("utf-8") == licence
        print("the same" if same else "differs: run tools/make_lexicon.py")
        return 0 if same else 1
    LEXICON.write_bytes(text)
    LICENCE.write_text(licence, "utf-8")
    words = len(text.splitlines())
    print(f"{words:,} words, {len(text):,} bytes ({len(gzip.compress(text)):,} packed)")
    return 0


def _licence(data: str) -> str:
    """WordNet's licence, which each of its files begins with."""
    lines = [line for line in data[:4000].splitlines() if line.startswith("  ")]
    return "\n".join(re.sub(r"^ +\d+ ?", "", line).rstrip() for line in lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
