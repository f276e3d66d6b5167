"""The checks of a query against what the graphs that it asks are known to hold."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import log10

from pyoxigraph import Literal, NamedNode, Variable
from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from askgraph.answers.validation import (
    UNTYPED,
    Finding,
    Kind,
    Knowledge,
    Place,
    PredicateUse,
    Proposal,
    Sorts,
    Subject,
    place_of_term,
    written,
)
from askgraph.answers.validation._blocks import (
    Atom,
    Block,
    Env,
    Step,
    Typing,
    allowed,
    block_of,
    inferred,
    may_be_empty,
    predicates_in,
    sorts_of,
    walk,
)
from askgraph.answers.validation.structure import fitting
from askgraph.sparql import Path, Pattern, Term
from askgraph.sparql.prefixes import WELL_KNOWN, namespace_of, words_of_local_name
from askgraph.sparql.serializer import text_of
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES, RDF_LANG_STRING, RDF_TYPE, XSD

__all__ = ["known_iris", "schema"]


def schema(subject: Subject, /) -> Iterator[Finding]:
    """Give the classes and predicates that a graph lacks, and the patterns that cannot match in it.

    The sorts of the variables are inferred from all patterns, in polynomial time; a part of the
    graph of which too little is known makes no finding.
    """
    if subject.tree is None:
        return
    for block, _, given in walk(block_of(subject.tree, subject.services)):
        yield from diagnosed(block, given, subject.text)


_MOST_EXPLAINED = 8
_TRIED = tuple(WELL_KNOWN[name] for name in ("rdf", "rdfs", "owl", "skos"))
_SHOWN = 3
_BY_VALUE = 0.4
_SPARE = 0.4  # of several names one is there, or of a class only those below are


def diagnosed(block: Block, given: Sequence[Env], text: str) -> Iterator[Finding]:
    """Yield a finding for each step and class of a block that nothing in the graph can match."""
    known = block.known
    if known is None:
        return
    unknown = [one for one in block.atoms if _is_unknown(one, known)]
    wrong = [one for one in inferred(block.atoms, known, given)[1] if one not in unknown]
    turned: set[str] = set()
    for one in [*unknown, *wrong][:_MOST_EXPLAINED]:
        if not isinstance(one, Atom):
            continue
        case = _case(one, block, given, known, text)
        for finding in case.findings():
            if finding.kind is Kind.DIRECTION or one in unknown:
                turned |= {str(one.subject), str(one.object)}
            yield finding
    yield from _unheard(block, text, known)
    yield from _untagged(block, text, known)
    for one in [*unknown, *wrong][:_MOST_EXPLAINED]:
        if isinstance(one, Typing) and (one in unknown or str(one.subject) not in turned):
            yield from _class_findings(one, block, given, known, text)


def _unheard(block: Block, text: str, known: Knowledge) -> Iterator[Finding]:
    """Names that the graph lacks in parts of paths that may be of any length.

    As a rule they are tried if that does no harm, those of RDFS, OWL and SKOS always.
    """
    stepped = {step.predicate for one in block.atoms if isinstance(one, Atom) for step in one.steps}
    for pattern in block.patterns:
        names = dict.fromkeys(predicates_in(pattern.predicate))
        for iri in names:
            if not (iri in known.predicates or iri in stepped or iri.startswith(_TRIED)):
                atom = Atom(pattern.subject, (Step(iri),), pattern.object, pattern, single=False)
                for finding in _Case(atom, known, text, {}).findings():
                    sure = finding.certainty if finding.is_misprint else _SPARE
                    yield replace(finding, certainty=min(finding.certainty, sure))


def _untagged(block: Block, text: str, known: Knowledge) -> Iterator[Finding]:
    """Literals in a language that no value of their predicate has."""
    for atom in block.atoms:
        if not isinstance(atom, Atom) or len(atom.steps) != 1:
            continue
        literal, use = atom.object, known.predicates.get(atom.steps[0].predicate)
        if not isinstance(literal, Literal) or not literal.language or use is None:
            continue
        tags = {tag.lower() for tag in use.languages}
        if RDF_LANG_STRING in use.datatypes and tags and literal.language.lower() not in tags:
            case = _Case(atom, known, text, {})
            yield case.literal(literal, atom.steps[0], use)


def _is_unknown(one: Atom | Typing, known: Knowledge) -> bool:
    if isinstance(one, Typing):
        return one.cls not in known.classes and known.below(one.cls) is None
    return any(step.predicate not in known.predicates for step in one.steps)


def _case(atom: Atom, block: Block, given: Sequence[Env], known: Knowledge, text: str) -> "_Case":
    others = [one for one in block.atoms if one is not atom]
    env = inferred(others, known, given)[0]
    return _Case(atom, known, text, env)


@dataclass(frozen=True)
class _Case:
    """A step that does not fit, and the sorts that everything else gives its variables."""

    atom: Atom
    known: Knowledge
    text: str
    env: Env

    @property
    def subjects(self) -> Sorts | None:
        return sorts_of(self.atom.subject, self.env, self.known)

    @property
    def objects(self) -> Sorts | None:
        return sorts_of(self.atom.object, self.env, self.known)

    def findings(self) -> Iterator[Finding]:
        """What is wrong with each of the alternatives that no triple can match."""
        uses = [self.known.predicates.get(step.predicate) for step in self.atom.steps]
        for step, use in zip(self.atom.steps, uses, strict=True):
            if use is None:
                yield self._unknown(step, spare=any(uses))
            elif len(self.atom.steps) == 1:
                yield self._misfit(step, use)

    def _unknown(self, step: Step, *, spare: bool) -> Finding:
        """A name that the graph lacks; with `spare` another one may match in its place."""
        return self._finding(
            Kind.PREDICATE,
            f"{_the_graph(self.known)} has no predicate {self._name(step.predicate)}",
            step,
            self._like(step),
            certainty=min(self.known.complete, _SPARE if spare else 1.0),
        )

    def _misfit(self, step: Step, use: PredicateUse) -> Finding:
        starts, ends = allowed(step, self.known)
        name = self._name(step.predicate)
        told = min(use.subjects_told, use.objects_told) * self.known.complete
        if self._fits_turned(step):
            turned = Step(step.predicate, not step.inverse)
            message = f"{name} leads the other way: {self._ends(use)}"
            others = self._like(step)[: _MOST - 1]
            return self._finding(Kind.DIRECTION, message, step, (turned, *others), certainty=told)
        literal = self.atom.object if not step.inverse else self.atom.subject
        if isinstance(literal, Literal) and use.datatypes and not _fit(self.objects, ends):
            return self.literal(literal, step, use)
        if not _fit(self.subjects, starts):
            message = f"{self._kinds(self.subjects)} has no {name}: {self._ends(use)}"
            kind = Kind.OBJECT if step.inverse else Kind.SUBJECT
        else:
            message = f"{name} does not lead to {self._kinds(self.objects)}: {self._ends(use)}"
            kind = Kind.SUBJECT if step.inverse else Kind.OBJECT
        return self._finding(kind, message, step, self._like(step), certainty=told)

    def _fits_turned(self, step: Step) -> bool:
        """Whether the step would fit the other way round, and something speaks for that."""
        starts, ends = allowed(Step(step.predicate, not step.inverse), self.known)
        told = [self.subjects, self.objects]
        sure = any(one is not None and one != {UNTYPED} for one in told)
        return sure and _fit(self.subjects, starts) and _fit(self.objects, ends)

    def literal(self, literal: Literal, step: Step, use: PredicateUse) -> Finding:
        """A literal that no triple has: of another type, or with another tag."""
        forms = fitting(literal, use.datatypes, use.languages)
        is_text = literal.datatype.value in (RDF_LANG_STRING, XSD + "string")
        tagged = RDF_LANG_STRING in use.datatypes and is_text
        kind = Kind.LANGUAGE if tagged else Kind.DATATYPE
        given = f"@{literal.language}" if literal.language else self._name(literal.datatype.value)
        types = [self._name(one) for one in sorted(use.datatypes)]
        if literal.datatype.value in use.datatypes:
            types = [f"@{tag}" for tag in sorted(use.languages)]
        message = f"{self._name(step.predicate)} gives {', '.join(types[:_SHOWN])}, not {given}"
        place = _place(self.text, literal, self.atom.pattern, self.known)
        # A store that compares numbers by value would find it.
        is_number = literal.datatype.value in NUMERIC_DATATYPES
        sure = _BY_VALUE if is_number and use.datatypes & NUMERIC_DATATYPES else 1.0
        return Finding(
            kind,
            message,
            place,
            str(literal),
            tuple(Proposal(text_of(form)) for form in forms),
            round(use.objects_told * self.known.complete * sure, 3),
        )

    def _like(self, step: Step) -> tuple[Step, ...]:
        """Predicates that fit between the ends; taken against the direction as this one is."""
        ends = self.subjects, self.objects
        subjects, objects = reversed(ends) if step.inverse else ends
        if any(sorts is not None and not sorts for sorts in ends):
            subjects = objects = None
        terms = (self.atom.object, self.atom.subject)
        hints = [hint for term in terms if (hint := _hint(term))]
        found = _predicates_like(step.predicate, self.known, subjects, objects, hints[:1])
        return tuple(Step(one.predicate, one.inverse != step.inverse) for one in found)

    def _finding(
        self, kind: Kind, message: str, step: Step, steps: Sequence[Step], *, certainty: float
    ) -> Finding:
        place = _place(self.text, NamedNode(step.predicate), self.atom.pattern, self.known)
        proposals = tuple(
            Proposal(
                ("" if one.inverse == step.inverse else "^") + self._name(one.predicate),
                self.known.label(one.predicate),
                one.predicate,
            )
            for one in steps
        )
        return Finding(kind, message, place, step.predicate, proposals, round(certainty, 3))

    def _name(self, iri: str) -> str:
        return written(iri, self.text, self.known.prefixes)

    def _kinds(self, sorts: Sorts | None) -> str:
        return _kinds(sorts, self.text, self.known)

    def _ends(self, use: PredicateUse) -> str:
        return f"it leads from {self._kinds(use.subjects)} to {self._kinds(use.ends)}"


def _class_findings(
    typing: Typing, block: Block, given: Sequence[Env], known: Knowledge, text: str
) -> Iterator[Finding]:
    """A class that the graph lacks, or that has not what the patterns ask of its instances."""
    claims = _claims_on(typing.subject, block, given, known)
    hint = _hint(typing.subject)
    found = _classes_like(typing.cls, known, claims, [hint] if hint else [])
    name = written(typing.cls, text, known.prefixes)
    proposals = [
        Proposal(written(iri, text, known.prefixes), known.label(iri), iri) for iri in found
    ]
    place = _place(text, NamedNode(typing.cls), typing.pattern, known)
    if _is_unknown(typing, known):
        kind, message = Kind.CLASS, f"{_the_graph(known)} has no instances of {name}"
        sure = known.complete
        if typing.below and known.hierarchy is None:
            sure = min(sure, _SPARE)
    else:
        kind, message = Kind.SUBJECT, f"{name} has not what is asked of {typing.subject}"
        sure = 0.9 * known.complete
    yield Finding(kind, message, place, typing.cls, tuple(proposals), sure)


def _claims_on(term: Term, block: Block, given: Sequence[Env], known: Knowledge) -> list[Sorts]:
    found: list[Sorts] = []
    for one in block.atoms:
        if isinstance(one, Atom) and len(one.steps) == 1:
            for end, sorts in zip(
                (one.subject, one.object), allowed(one.steps[0], known), strict=True
            ):
                if end == term and sorts is not None:
                    found.append(sorts)
    if isinstance(term, Variable):
        found += [env[term.value] for env in given if term.value in env]
    return found


def _place(text: str, term: Term, pattern: Pattern, known: Knowledge) -> Place | None:
    """Where a predicate, or else the object, stands; None within `( … )`, which has no words."""
    if not pattern.spans:
        return None
    at = 2 if term == pattern.object else 1
    return place_of_term(text, term, pattern.spans[at], known.prefixes)


def _the_graph(known: Knowledge) -> str:
    return f"the graph <{known.name}>" if known.name else "the graph"


def _fit(own: Sorts | None, allowed_sorts: Sorts | None) -> bool:
    return own is None or allowed_sorts is None or bool(own & allowed_sorts)


def _hint(term: Term) -> str:
    """The words in the name of a variable, numbers and short ends left out."""
    if not isinstance(term, Variable) or term.value.startswith("__"):
        return ""
    words = words_of_local_name(term.value).lower().split()
    kept = [word for word in words if len(word) > 1 and not word[-1].isdigit()]
    return " ".join(kept)


def _kinds(sorts: Sorts | None, text: str, known: Knowledge) -> str:
    """The sorts as words: the biggest classes first."""
    if not sorts:
        return "this"
    sizes = {iri: known.classes[iri].instances for iri in sorts if iri in known.classes}
    ordered = sorted(sorts, key=lambda iri: (iri == UNTYPED, -sizes.get(iri, 0), iri))
    shown = [written(one, text, known.prefixes) if one else "what has no class" for one in ordered]
    rest = len(shown) - _SHOWN
    return ", ".join(shown[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


_MOST = 3  # proposals
_FIT, _HINT, _SAME_SPACE, _TYPO = 3.0, 2.5, 0.3, 6.0
_CLOSE = 0.72  # by characters: the same name, mistyped


def _predicates_like(
    wrong: str,
    known: Knowledge,
    subjects: Sorts | None,
    objects: Sorts | None,
    hints: Sequence[str],
) -> tuple[Step, ...]:
    """The predicates that may be meant between ends of these sorts.

    `hints` are the names of the variables at the ends, which often say what a predicate gives. A
    predicate counts as a misprint if it is like the wrong one by its characters.
    """
    scored: list[tuple[float, str, bool]] = []
    for use in known.predicates.values():
        if use.iri == wrong:
            continue
        alike = _alike(wrong, use.iri, use.names, hints)
        for inverse in (False, True):
            fit = _suits(use, subjects, objects, known, inverse=inverse)
            if fit > 0 or (not inverse and alike >= _TYPO * _CLOSE):
                weight = 0.2 * log10(1 + use.triples) - (2.5 if inverse else 0.0)
                scored.append((_FIT * fit + alike + weight, use.iri, inverse))
    scored.sort(key=lambda one: (-one[0], one[1]))
    return tuple(Step(iri, inverse) for _, iri, inverse in scored[:_MOST])


def _classes_like(
    wrong: str, known: Knowledge, claims: Iterable[Sorts], hints: Sequence[str]
) -> tuple[str, ...]:
    """The classes that may be meant of a thing of which `claims` hold, all or most."""
    wanted = [claim for claim in claims if claim]
    scored = []
    for one in known.classes.values():
        if one.iri == wrong:
            continue
        fits = sum(one.iri in claim for claim in wanted) / len(wanted) if wanted else 0.5
        score = 2 * _FIT * fits + _alike(wrong, one.iri, one.names, hints)
        scored.append((score + 0.2 * log10(1 + one.instances), one.iri))
    scored.sort(key=lambda one: (-one[0], one[1]))
    return tuple(iri for _, iri in scored[:_MOST])


def _suits(
    use: PredicateUse,
    subjects: Sorts | None,
    objects: Sorts | None,
    known: Knowledge,
    *,
    inverse: bool,
) -> float:
    """2 if both ends fit, 0 if one does not; an end of which nothing is known fits by half.

    An end fits better the fewer other things have it: what all things have is seldom meant.
    """
    fit = 0.0
    for own, end in zip((subjects, objects), allowed(Step(use.iri, inverse), known), strict=True):
        if own is None or end is None:
            fit += 0.5
        elif own & end:
            fit += 1.0 if own & end != {UNTYPED} else 0.6
        else:
            return 0.0
    if inverse and objects is None:
        return 0.0
    if subjects and objects and use.links_told >= known.least:
        sources, targets = (objects, subjects) if inverse else (subjects, objects)
        if not any(use.links.get(sort, targets) & targets for sort in sources):
            return 0.0
    return fit


def _alike(wrong: str, iri: str, names: Sequence[tuple[str, str]], hints: Sequence[str]) -> float:
    """How like a name is to the wrong one, by characters if it is nearly the same."""
    own, other = wrong[len(namespace_of(wrong)) :], iri[len(namespace_of(iri)) :]
    same = OSA.normalized_similarity(own.lower(), other.lower()) if own and other else 0.0
    words = words_of_local_name(iri).lower()
    texts = [words, *(text.lower() for text, _ in names[:4])]
    meant = words_of_local_name(wrong).lower()
    likeness = max(fuzz.token_sort_ratio(meant, text) for text in texts) / 100
    hint = max(
        (fuzz.token_set_ratio(name, text) / 100 for name in hints for text in texts), default=0.0
    )
    exact = max((fuzz.ratio(name, text) / 100 for name in hints for text in texts), default=0.0)
    space = _SAME_SPACE if namespace_of(wrong) == namespace_of(iri) else 0.0
    typo = _TYPO * same if same >= _CLOSE else 0.0
    return max(typo, likeness) + _HINT * (hint + exact) / 2 + space


_STANDARD = tuple(WELL_KNOWN[name] for name in ("rdf", "rdfs", "owl", "xsd"))


def known_iris(subject: Subject, /) -> Iterator[Finding]:
    """Give the subjects and objects of patterns that are in no triple of a graph that lies here."""
    if subject.tree is None:
        return
    seen: set[str] = set()
    for block, _, _ in walk(block_of(subject.tree, subject.services)):
        for pattern in block.patterns:
            if may_be_empty(pattern.predicate):
                continue  # the path leads from anything to itself, known or not
            ends = (pattern.subject, pattern.object)
            for term, span in zip(ends, pattern.spans[::2], strict=False):
                if isinstance(term, NamedNode) and term.value not in seen:
                    seen.add(term.value)
                    if not (term is pattern.object and _asks_class(pattern)):
                        yield from _finding(term, span, block, subject.text)


def _asks_class(pattern: Pattern) -> bool:
    """Whether the object is a class, which the check of the schema looks at."""
    match pattern.predicate:
        case NamedNode(value=iri):
            return bool(iri == RDF_TYPE)
        case Path(operator="/", parts=(NamedNode(value=iri), *_)):
            return bool(iri == RDF_TYPE)
        case _:
            return False


def _finding(term: NamedNode, span: tuple[int, int], block: Block, text: str) -> Iterator[Finding]:
    known = block.known
    if known is None or known.entities is None or term.value.startswith(_STANDARD):
        return
    if term.value in known.classes or term.value in known.predicates:
        return
    if known.entities.sorts(term.value) is not None:
        return
    prefixes = known.prefixes
    near = known.entities.alike(term.value)
    yield Finding(
        Kind.ENTITY,
        f"the graph has nothing named {written(term.value, text, prefixes)}",
        place_of_term(text, term, span, prefixes),
        term.value,
        tuple(Proposal(written(iri, text, prefixes), known.label(iri), iri) for iri in near),
    )
