"""Split a query into blocks of joined patterns, and infer the sorts of their variables.

Sorts are narrowed to a fixed point. Each step claims sorts for both of its ends: all that a
resource may have there. A class claims itself: it is one of the sorts, and there may be more. A
claim that leaves no room for the others is in conflict. It is put aside, so that one fault neither
hides another nor makes sound patterns look wrong. Then the links between sorts narrow both ends of
each step until nothing changes: arc consistency (Mackworth, "Consistency in networks of relations",
1977), polynomial in steps and sorts, whatever cycles the patterns have.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import count

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.answers.validation import Knowledge, PredicateUse, ServiceKnowledge, Sorts
from askgraph.sparql import (
    Bind,
    Element,
    Filter,
    Group,
    Nested,
    Path,
    Pattern,
    Predicate,
    Query,
    Term,
    Union,
    Values,
    find_exists_groups,
)
from askgraph.sparql.vocabulary import NUMERIC_DATATYPES, RDF_TYPE, RDFS_SUB_CLASS_OF, WIKIBASE


@dataclass(frozen=True)
class PathStep:
    """A predicate, forward or inverse."""

    predicate: str
    inverse: bool = False


@dataclass(frozen=True)
class StepConstraint:
    """One of several steps leads from the subject to the object; `single` if it is one edge.

    Without steps, the connection is unknown.
    """

    subject: Term
    steps: tuple[PathStep, ...]
    object: Term
    pattern: Pattern
    single: bool = True


@dataclass(frozen=True)
class ClassConstraint:
    """The subject has a class or, with `subclasses`, one below it."""

    subject: Term
    cls: str
    pattern: Pattern
    subclasses: bool = False


def iterate_predicates(part: Predicate) -> Iterator[str]:
    """Yield the IRIs of a predicate or path, without negated ones."""
    match part:
        case NamedNode():
            yield part.value
        case Path(operator="!"):
            return
        case Path(parts=parts):
            for inner in parts:
                yield from iterate_predicates(inner)


def can_be_empty(part: Predicate) -> bool:
    """Return whether a path can lead from a node to itself over no edge."""
    match part:
        case Path(operator="*" | "?"):
            return True
        case Path(operator="/", parts=parts):
            return all(can_be_empty(inner) for inner in parts)
        case Path(operator="|", parts=parts):
            return any(can_be_empty(inner) for inner in parts)
        case Path(operator="^" | "+", parts=(inner,)):
            return can_be_empty(inner)
        case _:
            return False


def _iterate_constraints(
    start: Term, path: Predicate, end: Term, pattern: Pattern, numbers: Iterator[int]
) -> Iterator[StepConstraint | ClassConstraint]:
    match path:
        case NamedNode(value=iri) if iri == RDF_TYPE and isinstance(end, NamedNode):
            yield ClassConstraint(start, end.value, pattern)
        case Path(operator="/", parts=parts):
            if _is_class_path(parts) and isinstance(end, NamedNode):
                yield ClassConstraint(start, end.value, pattern, subclasses=True)
                return
            current_node = start
            for part in parts[:-1]:
                next_node = Variable(f"__path{next(numbers)}")
                yield from _iterate_constraints(current_node, part, next_node, pattern, numbers)
                current_node = next_node
            yield from _iterate_constraints(current_node, parts[-1], end, pattern, numbers)
        case Path(operator="^", parts=(NamedNode(),)):
            yield StepConstraint(start, _list_steps(path), end, pattern)
        case Path(operator="^", parts=(inner,)):
            yield from _iterate_constraints(end, inner, start, pattern, numbers)
        case Path(operator="+", parts=(inner,)):
            yield StepConstraint(start, _list_steps(inner), end, pattern, single=False)
        case Variable():
            return
        case _:
            yield StepConstraint(start, _list_steps(path), end, pattern)


def _is_class_path(parts: tuple[Predicate, ...]) -> bool:
    """Return whether a path is `a/rdfs:subClassOf*`, or with `+` or `?`."""
    match parts:
        case (
            NamedNode(value=first_iri),
            Path(operator="*" | "+" | "?", parts=(NamedNode(value=second_iri),)),
        ):
            return bool(first_iri == RDF_TYPE and second_iri == RDFS_SUB_CLASS_OF)
        case _:
            return False


def _list_steps(path: Predicate) -> tuple[PathStep, ...]:
    """Return the alternative steps of a path of length one; empty if the length may differ."""
    match path:
        case NamedNode(value=iri):
            return (PathStep(iri),)
        case Path(operator="^", parts=(inner,)):
            return tuple(PathStep(step.predicate, not step.inverse) for step in _list_steps(inner))
        case Path(operator="|", parts=parts):
            alternatives = [_list_steps(part) for part in parts]
            return (
                tuple(step for steps in alternatives for step in steps) if all(alternatives) else ()
            )
        case _:
            return ()


VariableSorts = Mapping[str, Sorts]
"""The sorts of variables by name; a missing variable may have any sort."""
_MAX_ROUNDS = 50
_MAX_LINKED_SORTS = 500  # variables with more sorts are not checked for links


@dataclass(frozen=True)
class _SortClaim:
    """The sorts that a constraint allows for a variable; `source` is None for outer claims."""

    source: StepConstraint | ClassConstraint | None
    sorts: Sorts


def infer_sorts(
    atoms: Sequence[StepConstraint | ClassConstraint],
    knowledge: Knowledge,
    outer_sorts: Iterable[VariableSorts] = (),
) -> tuple[VariableSorts, list[StepConstraint | ClassConstraint]]:
    """Return the sorts of the variables, and the constraints that are in conflict."""
    sorts_by_name: dict[str, Sorts] = {}
    wrong: dict[int, StepConstraint | ClassConstraint] = {}
    for name, claims in _collect_claims(atoms, knowledge, outer_sorts).items():
        sorts, culprits = _resolve_claims(claims, knowledge)
        if sorts is not None:
            sorts_by_name[name] = sorts
        wrong.update((id(constraint), constraint) for constraint in culprits)
    for atom in atoms:
        if (
            isinstance(atom, StepConstraint)
            and id(atom) not in wrong
            and _is_mismatch(atom, sorts_by_name, knowledge)
        ):
            wrong[id(atom)] = atom
    sound = [
        constraint
        for constraint in atoms
        if isinstance(constraint, StepConstraint) and id(constraint) not in wrong
    ]
    for atom in _narrow_sorts(sound, sorts_by_name, knowledge):
        wrong[id(atom)] = atom
    return sorts_by_name, list(wrong.values())


def get_sorts(term: Term, variable_sorts: VariableSorts, knowledge: Knowledge) -> Sorts | None:
    """Return the sorts that a term may have; None if unknown."""
    match term:
        case Variable():
            return variable_sorts.get(term.value)
        case Literal():
            return frozenset([term.datatype.value])
        case NamedNode() if knowledge.entities is not None:
            return knowledge.entities.get_sorts(term.value)
        case _:
            return None


def get_step_sorts(step: PathStep, knowledge: Knowledge) -> tuple[Sorts | None, Sorts | None]:
    """Return the subject and object sorts of a step; None if they are not known well enough."""
    use = knowledge.predicates.get(step.predicate)
    if use is None:
        return None, None
    subjects = use.subjects if use.subjects_share >= knowledge.min_share and use.subjects else None
    objects = (
        use.object_sorts if use.objects_share >= knowledge.min_share and use.object_sorts else None
    )
    return (objects, subjects) if step.inverse else (subjects, objects)


def expand_sorts(sorts: Sorts, knowledge: Knowledge) -> Sorts | None:
    """Return all sorts of nodes that have one of several sorts; None if unknown.

    A single sort stays alone: it is one of the node's sorts. Of two sets that each hold only
    some of them, the intersection may contain no sort of the node.
    """
    if len(sorts) == 1:
        return sorts
    return _unite_sorts([knowledge.shared_sorts.get(sort) for sort in sorts])


def _collect_claims(
    atoms: Sequence[StepConstraint | ClassConstraint],
    knowledge: Knowledge,
    outer_sorts: Iterable[VariableSorts],
) -> dict[str, list[_SortClaim]]:
    claims: dict[str, list[_SortClaim]] = defaultdict(list)
    for constraint in atoms:
        for term, sorts in _list_claims(constraint, knowledge):
            if isinstance(term, Variable) and sorts is not None:
                claims[term.value].append(_SortClaim(constraint, sorts))
    for variable_sorts in outer_sorts:
        for name, sorts in variable_sorts.items():
            claims[name].append(_SortClaim(None, sorts))
    return claims


def _list_claims(
    constraint: StepConstraint | ClassConstraint, knowledge: Knowledge
) -> list[tuple[Term, Sorts | None]]:
    if isinstance(constraint, ClassConstraint):
        if constraint.subclasses:
            below = knowledge.list_subclasses(constraint.cls)
            return [(constraint.subject, None if below is None else expand_sorts(below, knowledge))]
        return [
            (
                constraint.subject,
                frozenset([constraint.cls]) if constraint.cls in knowledge.classes else None,
            )
        ]
    sides = [get_step_sorts(step, knowledge) for step in constraint.steps]
    subjects = _unite_sorts([side[0] for side in sides])
    objects = _unite_sorts([side[1] for side in sides])
    return [(constraint.subject, subjects), (constraint.object, objects)]


def _unite_sorts(sorts: Sequence[Sorts | None]) -> Sorts | None:
    known_sets = [known_set for known_set in sorts if known_set is not None]
    return frozenset().union(*known_sets) if known_sets and len(known_sets) == len(sorts) else None


def _resolve_claims(
    claims: Sequence[_SortClaim], knowledge: Knowledge
) -> tuple[Sorts | None, list[StepConstraint | ClassConstraint]]:
    outside = [claim for claim in claims if claim.source is None]
    typings = [claim for claim in claims if isinstance(claim.source, ClassConstraint)]
    steps = [claim for claim in claims if isinstance(claim.source, StepConstraint)]
    culprits: list[StepConstraint | ClassConstraint] = []
    typed: Sorts | None = None
    several = False
    for claim in [*outside, *typings]:
        intersection = claim.sorts if typed is None else typed & claim.sorts
        if intersection:
            typed = intersection
        elif (
            typed is None
            or claim.source is None
            or any(
                sort not in knowledge.shared_sorts or knowledge.shared_sorts[sort] & typed
                for sort in claim.sorts
            )
        ):
            # A thing may have several classes; each step has to fit one of them.
            typed, several = (typed or frozenset()) | claim.sorts, True
        else:
            culprits.append(claim.source)
    if several and typed is not None:
        misfits = [claim for claim in steps if not claim.sorts & typed]
        return typed, [*culprits, *(claim.source for claim in misfits if claim.source is not None)]
    sorts, wrong = _combine_claims(typed, steps, typings)
    return sorts, [*culprits, *(culprit for culprit in wrong if culprit not in culprits)]


def _combine_claims(
    typed: Sorts | None, steps: Sequence[_SortClaim], typings: Sequence[_SortClaim]
) -> tuple[Sorts | None, list[StepConstraint | ClassConstraint]]:
    first = [] if typed is None else [_SortClaim(typings[0].source if typings else None, typed)]
    all_claims = [*first, *steps]
    common = _intersect_claims(all_claims)
    if common is None or common:
        return common, []
    other_claims = ([*all_claims[:at], *all_claims[at + 1 :]] for at in range(len(all_claims)))
    culprits = [
        claim
        for claim, remaining_claims in zip(all_claims, other_claims, strict=True)
        if _intersect_claims(remaining_claims)
    ]
    if not culprits:
        # Resolve several conflicts on one variable: earlier claims win, and its class before all.
        sorts, sources = typed, list[StepConstraint | ClassConstraint]()
        for claim in steps:
            if sorts is None or sorts & claim.sorts:
                sorts = claim.sorts if sorts is None else sorts & claim.sorts
            elif claim.source is not None:
                sources.append(claim.source)
        return sorts, sources
    wrong = [claim.source for claim in culprits if isinstance(claim.source, StepConstraint)]
    classes = [claim.source for claim in typings if culprits[0] is all_claims[0]]
    remaining_sorts = _intersect_claims(
        [claim for claim in all_claims if not (wrong and claim.source is wrong[-1])]
    )
    return remaining_sorts or None, [*wrong, *(source for source in classes if source is not None)]


def _intersect_claims(claims: Sequence[_SortClaim]) -> Sorts | None:
    return reduce(frozenset.__and__, (claim.sorts for claim in claims)) if claims else None


def _is_mismatch(atom: StepConstraint, variable_sorts: VariableSorts, knowledge: Knowledge) -> bool:
    sort_pairs = (
        (get_sorts(term, variable_sorts, knowledge), sorts)
        for term, sorts in _list_claims(atom, knowledge)
    )
    return any(
        term_sorts is not None and allowed_sorts is not None and not term_sorts & allowed_sorts
        for term_sorts, allowed_sorts in sort_pairs
    )


def _narrow_sorts(
    atoms: Sequence[StepConstraint], sorts_by_name: dict[str, Sorts], knowledge: Knowledge
) -> list[StepConstraint]:
    waiting = [atom for atom in atoms if atom.single and len(atom.steps) == 1]
    wrong: list[StepConstraint] = []
    for _ in range(_MAX_ROUNDS):
        changed = False
        for atom in list(waiting):
            use = knowledge.predicates.get(atom.steps[0].predicate)
            if use is None or use.links_share < knowledge.min_share:
                waiting.remove(atom)
                continue
            ends = (atom.subject, atom.object)[:: -1 if atom.steps[0].inverse else 1]
            before = [get_sorts(term, sorts_by_name, knowledge) for term in ends]
            after = _narrow_by_links(use, *before)
            if any(sorts is not None and not sorts for sorts in after):
                wrong.append(atom)
                waiting.remove(atom)
                continue
            for term, old, new in zip(ends, before, after, strict=True):
                if isinstance(term, Variable) and new is not None and new != old:
                    sorts_by_name[term.value] = new
                    changed = True
        if not changed:
            break
    return wrong


def _narrow_by_links(
    use: PredicateUse, subjects: Sorts | None, objects: Sorts | None
) -> tuple[Sorts | None, Sorts | None]:
    if subjects is None or len(subjects) > _MAX_LINKED_SORTS:
        return subjects, objects
    linked_subjects = subjects
    if objects is not None:
        linked_subjects = frozenset(
            sort for sort in subjects if sort not in use.links or use.links[sort] & objects
        )
    if all(sort in use.links for sort in linked_subjects):
        reached: Sorts = frozenset().union(*(use.links[sort] for sort in linked_subjects))
        objects = reached if objects is None else objects & reached
    return linked_subjects, objects


@dataclass
class Block:
    """Patterns that hold together on one graph.

    `unions` are alternatives; `inner` blocks are optional, negated or tested for existence;
    `selects` are subqueries with their columns; `separate` blocks go to another graph, or to
    one named graph alone.
    """

    knowledge: Knowledge | None
    patterns: list[Pattern] = field(default_factory=list)
    atoms: list[StepConstraint | ClassConstraint] = field(default_factory=list)
    value_sorts: list[VariableSorts] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    unions: list[list["Block"]] = field(default_factory=list)
    inner: list["Block"] = field(default_factory=list)
    selects: list[tuple["Block", frozenset[str] | None]] = field(default_factory=list)
    separate: list["Block"] = field(default_factory=list)
    summary: VariableSorts = field(default_factory=dict)


def build_block(query: Query, services: ServiceKnowledge) -> Block:
    """Build the block of a query's WHERE clause, with nested blocks and their summaries."""
    return _build_group_block(
        query.where, _select_knowledge(query, services.queried_graph), services.services, count()
    )


def walk_blocks(
    block: Block, outside: VariableSorts | None = None
) -> Iterator[tuple[Block, VariableSorts, list[VariableSorts]]]:
    """Yield each block with the sorts of its variables and the claims behind them.

    Each block is visited once bottom-up, when it is built, and once top-down: time is
    linear in the query, however deeply it is nested.
    """
    outer_sorts = [*block.value_sorts, *_iterate_summaries(block), *([outside] if outside else [])]
    variable_sorts: VariableSorts = (
        infer_sorts(block.atoms, block.knowledge, outer_sorts)[0] if block.knowledge else {}
    )
    yield block, variable_sorts, outer_sorts
    for inner in (*block.inner, *(branch for union in block.unions for branch in union)):
        yield from walk_blocks(inner, variable_sorts)
    for select, columns in block.selects:
        shared = {n: s for n, s in variable_sorts.items() if columns is None or n in columns}
        yield from walk_blocks(select, shared)
    for separate_block in block.separate:
        yield from walk_blocks(separate_block)


def _select_knowledge(query: Query, knowledge: Knowledge) -> Knowledge | None:
    """Return the knowledge of the graphs in FROM clauses; None if one of them is unknown."""
    names = [clause.removeprefix("FROM <")[:-1] for clause in query.datasets if "FROM <" in clause]
    graphs = [knowledge.select_graph(name) for name in names]
    if None in graphs:
        return None
    return graphs[0] if len(graphs) == 1 else knowledge


def _build_group_block(
    group: Group,
    knowledge: Knowledge | None,
    service_knowledge: Mapping[str, Knowledge],
    numbers: Iterator[int],
) -> Block:
    block = Block(knowledge)
    for element in group.elements:
        _add_element(element, block, service_knowledge, numbers)
    if knowledge is not None:
        block.summary = infer_sorts(
            block.atoms, knowledge, [*block.value_sorts, *_iterate_summaries(block)]
        )[0]
    return block


def _add_element(
    element: Element,
    block: Block,
    service_knowledge: Mapping[str, Knowledge],
    numbers: Iterator[int],
) -> None:
    match element:
        case Pattern():
            block.patterns.append(element)
            block.atoms += _iterate_constraints(
                element.subject, element.predicate, element.object, element, numbers
            )
        case Values() | Bind():
            block.value_sorts += _list_value_sorts(element, block.knowledge)
        case Filter():
            block.filters.append(element)
            for group in find_exists_groups(element.condition):
                block.inner.append(
                    _build_group_block(group, block.knowledge, service_knowledge, numbers)
                )
        case Union(groups=groups):
            block.unions.append(
                [
                    _build_group_block(branch_group, block.knowledge, service_knowledge, numbers)
                    for branch_group in groups
                ]
            )
        case Query():
            inner = _build_group_block(element.where, block.knowledge, service_knowledge, numbers)
            column_names = frozenset(v.value for v, value in element.columns if value is None)
            block.selects.append((inner, column_names if element.columns else None))
        case Nested():
            _add_nested_group(element, block, service_knowledge, numbers)


def _list_value_sorts(element: Values | Bind, knowledge: Knowledge | None) -> list[VariableSorts]:
    if knowledge is None:
        return []
    if isinstance(element, Values):
        return [dict(_iterate_values_sorts(element, knowledge))]
    if not isinstance(element.value, NamedNode):
        return []
    sorts = get_sorts(element.value, {}, knowledge)
    return [] if sorts is None else [{element.variable.value: sorts}]


def _add_nested_group(
    nested: Nested, block: Block, service_knowledge: Mapping[str, Knowledge], numbers: Iterator[int]
) -> None:
    match nested.word:
        case "GRAPH" if isinstance(nested.name, NamedNode) and block.knowledge is not None:
            graph_knowledge = block.knowledge.select_graph(nested.name.value)
            if graph_knowledge is not block.knowledge:
                block.separate.append(
                    _build_group_block(nested.group, graph_knowledge, service_knowledge, numbers)
                )
            if graph_knowledge is not None:
                _add_elements(nested.group, block, service_knowledge, numbers)
        case "" | "GRAPH":
            _add_elements(nested.group, block, service_knowledge, numbers)
        case "SERVICE":
            name = nested.name.value if isinstance(nested.name, NamedNode) else ""
            if name != WIKIBASE + "label":
                block.separate.append(
                    _build_group_block(
                        nested.group, service_knowledge.get(name), service_knowledge, numbers
                    )
                )
        case _:
            block.inner.append(
                _build_group_block(nested.group, block.knowledge, service_knowledge, numbers)
            )


def _add_elements(
    group: Group, block: Block, service_knowledge: Mapping[str, Knowledge], numbers: Iterator[int]
) -> None:
    for element in group.elements:
        _add_element(element, block, service_knowledge, numbers)


def _iterate_summaries(block: Block) -> Iterator[VariableSorts]:
    if block.knowledge is not None:
        for union in block.unions:
            yield _unite_branches([branch.summary for branch in union], block.knowledge)
    for select, columns in block.selects:
        yield {n: s for n, s in select.summary.items() if columns is None or n in columns}


def _unite_branches(branches: Sequence[VariableSorts], knowledge: Knowledge) -> VariableSorts:
    first, *other_branches = branches
    shared = [name for name in first if all(name in branch for branch in other_branches)]
    either = {
        name: first[name].union(*(branch[name] for branch in other_branches)) for name in shared
    }
    expanded = {name: expand_sorts(sorts, knowledge) for name, sorts in either.items()}
    return {name: sorts for name, sorts in expanded.items() if sorts is not None}


def _iterate_values_sorts(values: Values, knowledge: Knowledge) -> Iterator[tuple[str, Sorts]]:
    for column, name in enumerate(values.variables):
        cells = [row[column] for row in values.rows if column < len(row)]
        sorts = [None if cell is None else _get_cell_sorts(cell, knowledge) for cell in cells]
        known_sorts = [cell_sorts for cell_sorts in sorts if cell_sorts is not None]
        if known_sorts and len(known_sorts) == len(sorts):
            yield name.value, frozenset().union(*known_sorts)


def _get_cell_sorts(term: Term, knowledge: Knowledge) -> Sorts | None:
    if isinstance(term, Literal) and term.datatype.value in NUMERIC_DATATYPES:
        return NUMERIC_DATATYPES  # some stores join numbers by value
    return None if isinstance(term, Variable) else get_sorts(term, {}, knowledge)
