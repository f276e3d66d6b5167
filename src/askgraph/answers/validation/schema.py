"""Check patterns against the knowledge of the queried graphs, and named resources for existence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log10

from pyoxigraph import Literal, NamedNode, Variable
from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from askgraph.answers.validation import (
    UNTYPED,
    CheckInput,
    FaultKind,
    Finding,
    Knowledge,
    PredicateUse,
    Replacement,
    Sorts,
    SourceRange,
    find_term,
    shorten_iri,
)
from askgraph.answers.validation import _blocks as blocks
from askgraph.answers.validation.structure import convert_literal
from askgraph.sparql import Path, Pattern, Term
from askgraph.sparql.prefixes import WELL_KNOWN_PREFIXES, get_namespace, split_local_name
from askgraph.sparql.serializer import to_text
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES, RDF_LANG_STRING, RDF_TYPE, XSD

__all__ = ["known_iris", "schema"]


def schema(subject: CheckInput, /) -> Iterator[Finding]:
    """Yield classes and predicates that a graph lacks, and patterns that cannot match in it.

    The sorts of the variables are inferred from all patterns, in polynomial time; parts of
    the graph with too little knowledge give no finding.
    """
    if subject.tree is None:
        return
    for block, _, outer_sorts in blocks.walk_blocks(
        blocks.build_block(subject.tree, subject.services)
    ):
        yield from diagnose_block(block, outer_sorts, subject.text)


_MAX_EXPLAINED = 8
_COMMON_NAMESPACES = tuple(WELL_KNOWN_PREFIXES[name] for name in ("rdf", "rdfs", "owl", "skos"))
_MAX_LISTED_SORTS = 3
_NUMBER_CERTAINTY_FACTOR = 0.4
_ALTERNATIVE_PROBABILITY = 0.4  # one of several names exists, or a subclass has the property


def diagnose_block(
    block: blocks.Block, outer_sorts: Sequence[blocks.VariableSorts], text: str
) -> Iterator[Finding]:
    """Yield a finding for each constraint of a block that nothing in the graph can match."""
    knowledge = block.knowledge
    if knowledge is None:
        return
    unknown = [constraint for constraint in block.atoms if _is_unknown(constraint, knowledge)]
    wrong = [
        constraint
        for constraint in blocks.infer_sorts(block.atoms, knowledge, outer_sorts)[1]
        if constraint not in unknown
    ]
    reversed_terms: set[str] = set()
    for constraint in [*unknown, *wrong][:_MAX_EXPLAINED]:
        if not isinstance(constraint, blocks.StepConstraint):
            continue
        other_constraints = [
            other_constraint
            for other_constraint in block.atoms
            if other_constraint is not constraint
        ]
        variable_sorts = blocks.infer_sorts(other_constraints, knowledge, outer_sorts)[0]
        for finding in _StepMismatch(constraint, knowledge, text, variable_sorts).list_findings():
            if finding.kind is FaultKind.DIRECTION or constraint in unknown:
                reversed_terms |= {str(constraint.subject), str(constraint.object)}
            yield finding
    step_predicates = {
        step.predicate
        for constraint in block.atoms
        if isinstance(constraint, blocks.StepConstraint)
        for step in constraint.steps
    }
    for pattern in block.patterns:
        for iri in dict.fromkeys(blocks.iterate_predicates(pattern.predicate)):
            if not (
                iri in knowledge.predicates
                or iri in step_predicates
                or iri.startswith(_COMMON_NAMESPACES)
            ):
                path_step = blocks.StepConstraint(
                    pattern.subject, (blocks.PathStep(iri),), pattern.object, pattern, single=False
                )
                for finding in _StepMismatch(path_step, knowledge, text, {}).list_findings():
                    certainty = (
                        finding.certainty if finding.is_misprint else _ALTERNATIVE_PROBABILITY
                    )
                    yield replace(finding, certainty=min(finding.certainty, certainty))
    yield from _check_language_tags(block, text, knowledge)
    for constraint in [*unknown, *wrong][:_MAX_EXPLAINED]:
        if isinstance(constraint, blocks.ClassConstraint) and (
            constraint in unknown or str(constraint.subject) not in reversed_terms
        ):
            yield from _check_class(constraint, block, outer_sorts, knowledge, text)


def _check_language_tags(block: blocks.Block, text: str, knowledge: Knowledge) -> Iterator[Finding]:
    for constraint in block.atoms:
        if not isinstance(constraint, blocks.StepConstraint) or len(constraint.steps) != 1:
            continue
        literal, use = constraint.object, knowledge.predicates.get(constraint.steps[0].predicate)
        if not isinstance(literal, Literal) or not literal.language or use is None:
            continue
        tags = {tag.lower() for tag in use.languages}
        if RDF_LANG_STRING in use.datatypes and tags and literal.language.lower() not in tags:
            mismatch = _StepMismatch(constraint, knowledge, text, {})
            yield mismatch.report_literal(literal, constraint.steps[0], use)


def _is_unknown(
    constraint: blocks.StepConstraint | blocks.ClassConstraint, knowledge: Knowledge
) -> bool:
    if isinstance(constraint, blocks.ClassConstraint):
        return (
            constraint.cls not in knowledge.classes
            and knowledge.list_subclasses(constraint.cls) is None
        )
    return any(step.predicate not in knowledge.predicates for step in constraint.steps)


@dataclass(frozen=True)
class _StepMismatch:
    """A step that does not fit, and the sorts that all other constraints give its variables."""

    constraint: blocks.StepConstraint
    knowledge: Knowledge
    text: str
    variable_sorts: blocks.VariableSorts

    @property
    def subjects(self) -> Sorts | None:
        return blocks.get_sorts(self.constraint.subject, self.variable_sorts, self.knowledge)

    @property
    def objects(self) -> Sorts | None:
        return blocks.get_sorts(self.constraint.object, self.variable_sorts, self.knowledge)

    def list_findings(self) -> Iterator[Finding]:
        uses = [self.knowledge.predicates.get(step.predicate) for step in self.constraint.steps]
        for step, use in zip(self.constraint.steps, uses, strict=True):
            if use is None:
                share = _ALTERNATIVE_PROBABILITY if any(uses) else 1.0  # another step may match
                name = self._format_name(step.predicate)
                yield self._build_finding(
                    FaultKind.PREDICATE,
                    f"{_name_graph(self.knowledge)} has no predicate {name}",
                    step,
                    self._find_similar_steps(step),
                    certainty=min(self.knowledge.completeness, share),
                )
            elif len(self.constraint.steps) == 1:
                yield self._report_mismatch(step, use)

    def _report_mismatch(self, step: blocks.PathStep, use: PredicateUse) -> Finding:
        subject_sorts, object_sorts = blocks.get_step_sorts(step, self.knowledge)
        name = self._format_name(step.predicate)
        certainty = min(use.subjects_share, use.objects_share) * self.knowledge.completeness
        if self._can_fit_reversed(step):
            reversed_step = blocks.PathStep(step.predicate, not step.inverse)
            message = f"{name} leads the other way: {self._describe_ends(use)}"
            similar_steps = self._find_similar_steps(step)[: _MAX_REPLACEMENTS - 1]
            return self._build_finding(
                FaultKind.DIRECTION,
                message,
                step,
                (reversed_step, *similar_steps),
                certainty=certainty,
            )
        literal = self.constraint.object if not step.inverse else self.constraint.subject
        if (
            isinstance(literal, Literal)
            and use.datatypes
            and not _is_compatible(self.objects, object_sorts)
        ):
            return self.report_literal(literal, step, use)
        if not _is_compatible(self.subjects, subject_sorts):
            message = (
                f"{self._format_kinds(self.subjects)} has no {name}: {self._describe_ends(use)}"
            )
            kind = FaultKind.OBJECT if step.inverse else FaultKind.SUBJECT
        else:
            message = (
                f"{name} does not lead to {self._format_kinds(self.objects)}: "
                f"{self._describe_ends(use)}"
            )
            kind = FaultKind.SUBJECT if step.inverse else FaultKind.OBJECT
        return self._build_finding(
            kind, message, step, self._find_similar_steps(step), certainty=certainty
        )

    def _can_fit_reversed(self, step: blocks.PathStep) -> bool:
        """Return whether the step would fit in the other direction, with evidence for it."""
        subject_sorts, object_sorts = blocks.get_step_sorts(
            blocks.PathStep(step.predicate, not step.inverse), self.knowledge
        )
        known_sorts = [self.subjects, self.objects]
        has_evidence = any(sorts is not None and sorts != {UNTYPED} for sorts in known_sorts)
        return (
            has_evidence
            and _is_compatible(self.subjects, subject_sorts)
            and _is_compatible(self.objects, object_sorts)
        )

    def report_literal(self, literal: Literal, step: blocks.PathStep, use: PredicateUse) -> Finding:
        """Report a literal that no triple has: another type, or another tag."""
        forms = convert_literal(literal, use.datatypes, use.languages)
        is_text = literal.datatype.value in (RDF_LANG_STRING, XSD + "string")
        has_tags = RDF_LANG_STRING in use.datatypes and is_text
        kind = FaultKind.LANGUAGE if has_tags else FaultKind.DATATYPE
        written_type = (
            f"@{literal.language}"
            if literal.language
            else self._format_name(literal.datatype.value)
        )
        types = [self._format_name(datatype) for datatype in sorted(use.datatypes)]
        if literal.datatype.value in use.datatypes:
            types = [f"@{tag}" for tag in sorted(use.languages)]
        message = (
            f"{self._format_name(step.predicate)} gives "
            f"{', '.join(types[:_MAX_LISTED_SORTS])}, not {written_type}"
        )
        source_range = _locate_term(self.text, literal, self.constraint.pattern, self.knowledge)
        # A store that compares numbers by value would match it.
        is_number = literal.datatype.value in NUMERIC_DATATYPES
        certainty_factor = (
            _NUMBER_CERTAINTY_FACTOR if is_number and use.datatypes & NUMERIC_DATATYPES else 1.0
        )
        return Finding(
            kind,
            message,
            source_range,
            str(literal),
            tuple(Replacement(to_text(form)) for form in forms),
            round(use.objects_share * self.knowledge.completeness * certainty_factor, 3),
        )

    def _find_similar_steps(self, step: blocks.PathStep) -> tuple[blocks.PathStep, ...]:
        """Return predicates that fit between the ends, relative to the direction of this step."""
        ends = self.subjects, self.objects
        subjects, objects = reversed(ends) if step.inverse else ends
        if any(sorts is not None and not sorts for sorts in ends):
            subjects = objects = None
        terms = (self.constraint.object, self.constraint.subject)
        hints = [hint for term in terms if (hint := _get_variable_words(term))]
        similar = _find_similar_predicates(
            step.predicate, self.knowledge, subjects, objects, hints[:1]
        )
        return tuple(
            blocks.PathStep(similar_step.predicate, similar_step.inverse != step.inverse)
            for similar_step in similar
        )

    def _build_finding(
        self,
        kind: FaultKind,
        message: str,
        step: blocks.PathStep,
        steps: Sequence[blocks.PathStep],
        *,
        certainty: float,
    ) -> Finding:
        source_range = _locate_term(
            self.text, NamedNode(step.predicate), self.constraint.pattern, self.knowledge
        )
        proposals = tuple(
            Replacement(
                ("" if replacement_step.inverse == step.inverse else "^")
                + self._format_name(replacement_step.predicate),
                self.knowledge.get_label(replacement_step.predicate),
                replacement_step.predicate,
            )
            for replacement_step in steps
        )
        return Finding(kind, message, source_range, step.predicate, proposals, round(certainty, 3))

    def _format_name(self, iri: str) -> str:
        return shorten_iri(iri, self.text, self.knowledge.prefixes)

    def _format_kinds(self, sorts: Sorts | None) -> str:
        text = self.text
        knowledge = self.knowledge
        if not sorts:
            return "this"
        sizes = {iri: knowledge.classes[iri].instances for iri in sorts if iri in knowledge.classes}
        ordered = sorted(sorts, key=lambda iri: (iri == UNTYPED, -sizes.get(iri, 0), iri))
        names = [
            shorten_iri(sort, text, knowledge.prefixes) if sort else "things without a class"
            for sort in ordered
        ]
        omitted_count = len(names) - _MAX_LISTED_SORTS
        return ", ".join(names[:_MAX_LISTED_SORTS]) + (
            f" and {omitted_count} more" if omitted_count > 0 else ""
        )

    def _describe_ends(self, use: PredicateUse) -> str:
        return (
            f"it leads from {self._format_kinds(use.subjects)} to "
            f"{self._format_kinds(use.object_sorts)}"
        )


def _check_class(
    constraint: blocks.ClassConstraint,
    block: blocks.Block,
    outer_sorts: Sequence[blocks.VariableSorts],
    knowledge: Knowledge,
    text: str,
) -> Iterator[Finding]:
    claims = _collect_term_sorts(constraint.subject, block, outer_sorts, knowledge)
    hint = _get_variable_words(constraint.subject)
    wrong = constraint.cls
    hints = [hint] if hint else []
    nonempty_claims = [claim for claim in claims if claim]
    scored = []
    for class_use in knowledge.classes.values():
        if class_use.iri == wrong:
            continue
        fits = (
            sum(class_use.iri in claim for claim in nonempty_claims) / len(nonempty_claims)
            if nonempty_claims
            else 0.5
        )
        score = 2 * _FIT_WEIGHT * fits + _score_similarity(
            wrong, class_use.iri, class_use.names, hints
        )
        scored.append((score + 0.2 * log10(1 + class_use.instances), class_use.iri))
    scored.sort(key=lambda class_use: (-class_use[0], class_use[1]))
    similar_classes = tuple(iri for _, iri in scored[:_MAX_REPLACEMENTS])
    name = shorten_iri(constraint.cls, text, knowledge.prefixes)
    proposals = [
        Replacement(shorten_iri(iri, text, knowledge.prefixes), knowledge.get_label(iri), iri)
        for iri in similar_classes
    ]
    source_range = _locate_term(text, NamedNode(constraint.cls), constraint.pattern, knowledge)
    if _is_unknown(constraint, knowledge):
        kind, message = FaultKind.CLASS, f"{_name_graph(knowledge)} has no instances of {name}"
        certainty = knowledge.completeness
        if constraint.subclasses and knowledge.hierarchy is None:
            certainty = min(certainty, _ALTERNATIVE_PROBABILITY)
    else:
        kind = FaultKind.SUBJECT
        message = f"{name} does not have the properties asked of {constraint.subject}"
        certainty = 0.9 * knowledge.completeness
    yield Finding(kind, message, source_range, constraint.cls, tuple(proposals), certainty)


def _collect_term_sorts(
    term: Term,
    block: blocks.Block,
    outer_sorts: Sequence[blocks.VariableSorts],
    knowledge: Knowledge,
) -> list[Sorts]:
    claims: list[Sorts] = []
    for constraint in block.atoms:
        if isinstance(constraint, blocks.StepConstraint) and len(constraint.steps) == 1:
            for end, sorts in zip(
                (constraint.subject, constraint.object),
                blocks.get_step_sorts(constraint.steps[0], knowledge),
                strict=True,
            ):
                if end == term and sorts is not None:
                    claims.append(sorts)
    if isinstance(term, Variable):
        claims += [
            variable_sorts[term.value]
            for variable_sorts in outer_sorts
            if term.value in variable_sorts
        ]
    return claims


def _locate_term(
    text: str, term: Term, pattern: Pattern, knowledge: Knowledge
) -> SourceRange | None:
    """Return the place of a predicate or object; None within a collection `( … )`."""
    if not pattern.spans:
        return None
    span_index = 2 if term == pattern.object else 1
    return find_term(text, term, pattern.spans[span_index], knowledge.prefixes)


def _name_graph(knowledge: Knowledge) -> str:
    return f"the graph <{knowledge.name}>" if knowledge.name else "the graph"


def _is_compatible(sorts: Sorts | None, allowed_sorts: Sorts | None) -> bool:
    return sorts is None or allowed_sorts is None or bool(sorts & allowed_sorts)


def _get_variable_words(term: Term) -> str:
    """Return the words in the name of a variable, without numbers and single letters."""
    if not isinstance(term, Variable) or term.value.startswith("__"):
        return ""
    words = split_local_name(term.value).lower().split()
    content_words = [word for word in words if len(word) > 1 and not word[-1].isdigit()]
    return " ".join(content_words)


_MAX_REPLACEMENTS = 3  # proposals
_FIT_WEIGHT, _HINT_WEIGHT, _SAME_NAMESPACE_SCORE, _TYPO_WEIGHT = 3.0, 2.5, 0.3, 6.0
_MIN_TYPO_SIMILARITY_RATIO = 0.72  # by characters: the same name, mistyped


def _find_similar_predicates(
    wrong: str,
    knowledge: Knowledge,
    subjects: Sorts | None,
    objects: Sorts | None,
    hints: Sequence[str],
) -> tuple[blocks.PathStep, ...]:
    """Return the predicates that may be meant between ends of these sorts."""
    # `hints` are words of the variables at the ends, which often describe the predicate. A
    # predicate counts as a misprint if its characters are similar.
    scored: list[tuple[float, str, bool]] = []
    for use in knowledge.predicates.values():
        if use.iri == wrong:
            continue
        similarity = _score_similarity(wrong, use.iri, use.names, hints)
        for inverse in (False, True):
            fit = _score_fit(use, subjects, objects, knowledge, inverse=inverse)
            if fit > 0 or (not inverse and similarity >= _TYPO_WEIGHT * _MIN_TYPO_SIMILARITY_RATIO):
                weight = 0.2 * log10(1 + use.triples) - (2.5 if inverse else 0.0)
                scored.append((_FIT_WEIGHT * fit + similarity + weight, use.iri, inverse))
    scored.sort(key=lambda scored_step: (-scored_step[0], scored_step[1]))
    return tuple(blocks.PathStep(iri, inverse) for _, iri, inverse in scored[:_MAX_REPLACEMENTS])


def _score_fit(
    use: PredicateUse,
    subjects: Sorts | None,
    objects: Sorts | None,
    knowledge: Knowledge,
    *,
    inverse: bool,
) -> float:
    """Return 2 if both ends fit, 0 if one does not; an unknown end counts half."""
    # An end that all resources have counts less, since it is rarely meant.
    fit = 0.0
    for sorts, end in zip(
        (subjects, objects),
        blocks.get_step_sorts(blocks.PathStep(use.iri, inverse), knowledge),
        strict=True,
    ):
        if sorts is None or end is None:
            fit += 0.5
        elif sorts & end:
            fit += 1.0 if sorts & end != {UNTYPED} else 0.6
        else:
            return 0.0
    if inverse and objects is None:
        return 0.0
    if subjects and objects and use.links_share >= knowledge.min_share:
        sources, targets = (objects, subjects) if inverse else (subjects, objects)
        if not any(use.links.get(sort, targets) & targets for sort in sources):
            return 0.0
    return fit


def _score_similarity(
    wrong: str, iri: str, names: Sequence[tuple[str, str]], hints: Sequence[str]
) -> float:
    """Score the similarity of a name to the wrong one, by characters if nearly equal."""
    wrong_name, candidate_name = wrong[len(get_namespace(wrong)) :], iri[len(get_namespace(iri)) :]
    same = (
        OSA.normalized_similarity(wrong_name.lower(), candidate_name.lower())
        if wrong_name and candidate_name
        else 0.0
    )
    texts = [split_local_name(iri).lower(), *(text.lower() for text, _ in names[:4])]
    wrong_words = split_local_name(wrong).lower()
    likeness = max(fuzz.token_sort_ratio(wrong_words, text) for text in texts) / 100
    hint = max(
        (fuzz.token_set_ratio(name, text) / 100 for name in hints for text in texts), default=0.0
    )
    exact = max((fuzz.ratio(name, text) / 100 for name in hints for text in texts), default=0.0)
    space = _SAME_NAMESPACE_SCORE if get_namespace(wrong) == get_namespace(iri) else 0.0
    typo = _TYPO_WEIGHT * same if same >= _MIN_TYPO_SIMILARITY_RATIO else 0.0
    return max(typo, likeness) + _HINT_WEIGHT * (hint + exact) / 2 + space


_STANDARD_NAMESPACES = tuple(WELL_KNOWN_PREFIXES[name] for name in ("rdf", "rdfs", "owl", "xsd"))


def known_iris(subject: CheckInput, /) -> Iterator[Finding]:
    """Yield the subjects and objects of patterns that occur in no triple of a local graph."""
    if subject.tree is None:
        return
    checked_iris: set[str] = set()
    for block, _, _ in blocks.walk_blocks(blocks.build_block(subject.tree, subject.services)):
        for pattern in block.patterns:
            if blocks.can_be_empty(pattern.predicate):
                continue  # the path connects every term to itself, even an unknown one
            ends = (pattern.subject, pattern.object)
            for term, span in zip(ends, pattern.spans[::2], strict=False):
                if isinstance(term, NamedNode) and term.value not in checked_iris:
                    checked_iris.add(term.value)
                    if not (term is pattern.object and _has_class_object(pattern)):
                        yield from _check_iri(term, span, block, subject.text)


def _has_class_object(pattern: Pattern) -> bool:
    """Return whether the object is a class, which the schema check covers."""
    match pattern.predicate:
        case NamedNode(value=iri):
            return bool(iri == RDF_TYPE)
        case Path(operator="/", parts=(NamedNode(value=iri), *_)):
            return bool(iri == RDF_TYPE)
        case _:
            return False


def _check_iri(
    term: NamedNode, span: tuple[int, int], block: blocks.Block, text: str
) -> Iterator[Finding]:
    knowledge = block.knowledge
    if (
        knowledge is None
        or knowledge.entities is None
        or term.value.startswith(_STANDARD_NAMESPACES)
    ):
        return
    if term.value in knowledge.classes or term.value in knowledge.predicates:
        return
    if knowledge.entities.get_sorts(term.value) is not None:
        return
    prefixes = knowledge.prefixes
    similar_iris = knowledge.entities.find_similar(term.value)
    yield Finding(
        FaultKind.ENTITY,
        f"the graph has nothing named {shorten_iri(term.value, text, prefixes)}",
        find_term(text, term, span, prefixes),
        term.value,
        tuple(
            Replacement(shorten_iri(iri, text, prefixes), knowledge.get_label(iri), iri)
            for iri in similar_iris
        ),
    )
