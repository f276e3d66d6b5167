"""Repairs that a finding calls for if only one reading is left."""

from collections.abc import Sequence

from rapidfuzz.distance import OSA

from askgraph.rdf.prefixes import namespace_of
from askgraph.validation import Finding, Kind, Place, Repair

SURE = 0.9
_NAMES = frozenset({Kind.CLASS, Kind.PREDICATE, Kind.ENTITY})
_SHORT = 4  # characters of a name below which one of them makes another word


def repaired_by(text: str, findings: Sequence[Finding]) -> tuple[str, tuple[Repair, ...]]:
    """Return the query with what can safely be repaired, and what was done.

    Prefixes that are known, predicates that lead the other way, language tags, datatypes, and names
    that differ from just one of the graph's in a letter, in case, or in their namespace. Each place
    is changed at most once.
    """
    edits: dict[Place, tuple[str, Repair]] = {}
    header, done = "", list[Repair]()
    for finding in findings:
        if finding.certainty < SURE or not finding.proposals:
            continue
        best = finding.proposals[0].text
        if finding.kind is Kind.PREFIX:
            header += best + "\n"
            done.append(Repair(f"the prefix {finding.term + ':'!r} was declared", "", best))
        elif finding.place and finding.place not in edits and _is_safe(finding, text):
            before = text[finding.place.start : finding.place.end]
            after = _after(finding, before)
            edits[finding.place] = after, Repair(_NOTES.get(finding.kind, "a name"), before, after)
    for place in sorted(edits, key=lambda one: -one.start):
        after, repair = edits[place]
        text = text[: place.start] + after + text[place.end :]
        done.append(repair)
    return header + text, tuple(done)


def is_misprint(finding: Finding) -> bool:
    """Return whether its first proposal differs in next to nothing, and no other one does."""
    wrong = finding.term
    alike = [one for one in finding.proposals if one.iri and _nearly(wrong, one.iri)]
    return finding.kind in _NAMES and len(alike) == 1 and alike[0] is finding.proposals[0]


_NOTES = {
    Kind.DIRECTION: "a predicate was turned round",
    Kind.LANGUAGE: "a language tag was corrected",
    Kind.DATATYPE: "a datatype was corrected",
    Kind.CLASS: "the name of a class was corrected",
    Kind.PREDICATE: "the name of a predicate was corrected",
    Kind.ENTITY: "the name of a thing was corrected",
}


def _is_safe(finding: Finding, text: str) -> bool:
    place = finding.place
    if place is None:
        return False
    if finding.kind is Kind.DIRECTION:
        before = text[: place.start].rstrip()[-1:]
        after = text[place.end :].lstrip()[:1]
        return before not in ("^", "/", "|", "!", "(") and after not in ("*", "+", "/", "|", ")")
    if finding.kind in (Kind.LANGUAGE, Kind.DATATYPE):
        return len(finding.proposals) == 1
    return is_misprint(finding)


def _nearly(wrong: str, iri: str) -> bool:
    own, other = wrong[len(namespace_of(wrong)) :], iri[len(namespace_of(iri)) :]
    plain = [_plain(own), _plain(other)]
    if plain[0] == plain[1]:
        return True
    near = OSA.distance(own, other) == 1 and min(map(len, plain)) >= _SHORT
    return near and own[-1:].isdigit() == other[-1:].isdigit() and not own[-1:].isdigit()


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())


def _after(finding: Finding, before: str) -> str:
    """What is put in; a name in full if its prefix is not that of the one it replaces."""
    best = finding.proposals[0]
    if finding.kind is Kind.DIRECTION:
        return f"^{before}"
    same = before.partition(":")[0] == best.text.partition(":")[0]
    return best.text if same or not best.iri else f"<{best.iri}>"
