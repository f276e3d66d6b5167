"""The voice that the guided method asks, and the outcome of a run.

The voice is asked again if its answer is doubtful, and may then look things up. For several voices,
and other methods beside them, see `askgraph.methods.guided.voting`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

from pyoxigraph import Literal, NamedNode, Variable

from askgraph.errors import QueryError, ServiceError
from askgraph.graph.profile import PredicateProfile
from askgraph.methods.guided.candidates import CandidateSet
from askgraph.methods.guided.prompt import GuidedReply
from askgraph.methods.guided.verdict import ReplyJudge, Verdict
from askgraph.methods.settings import load_texts
from askgraph.methods.shared import Conversation
from askgraph.methods.tools import Context, Toolbox
from askgraph.methods.tools.hits import look_up_types
from askgraph.methods.tools.query_run import MAX_ROWS, run_query
from askgraph.methods.tools.rendering import fetch_labels
from askgraph.search.decide import Thresholds, choose_options, choose_outcome
from askgraph.search.query_pieces import list_patterns
from askgraph.sparql import Call, Element, Filter, Group, Nested, Pattern, Query, find_variables
from askgraph.sparql.results import Row, SelectResult
from askgraph.sparql.serializer import render_query, to_tree
from askgraph.trace import (
    Answer,
    Answerer,
    Clarification,
    Draft,
    ModelTurn,
    Option,
    Outcome,
    Refusal,
    Step,
    Thought,
    ToolUse,
    record_or_replay,
)

_TEXTS = load_texts("guided")
_LOOKUP_INSTRUCTION: str = _TEXTS["lookup_instruction"]
_LAST_TURN_MESSAGE: str = _TEXTS["last_turn_message"]
_RETRY_INSTRUCTION: str = _TEXTS["retry_instruction"]
_MIN_RIVAL_CONFIDENCE = 0.5  # minimum confidence of a candidate worth a clarification
_MAX_LOOKUP_CONFIDENCE = 0.6  # maximum confidence in a looked-up candidate
_UNUSABLE_REASON = "the model's replies could not be used"
# The most that is believed of an answer that a model declined to give.
_MAX_DECLINED_CONFIDENCE = 0.3
_MAX_OVERRULED_CHANCE = 0.75  # the chance of a candidate from which a small model's number is idle
_CLARIFICATION_TEXT = "Which of these do you mean?"


@dataclass(frozen=True, eq=False)
class Voice:
    """A named model with its conversation."""

    name: str
    conversation: Conversation
    n: int = 1  # replies to sample
    source: str = "model"  # voices of one source make correlated errors, as those of one model do


@dataclass(eq=False)
class Panel:
    """A single voice that is asked about a question."""

    judge: ReplyJudge
    voices: Sequence[Voice]
    max_retries: int = 1  # how often it is asked again at most
    toolbox: Callable[[], Toolbox] | None = None
    turns: int = 0  # turns at most with functions of the `toolbox`
    answer: Answer | None = None  # the answer so far, or None
    confidence: float = 0.0
    verdict: Verdict | None = None  # the verdict on the reply that counts
    rivals: Sequence[Answer] = ()  # answers that a question back would offer too
    refusal_reason: str = ""  # the model's reason why the graph holds no answer
    keeps_search: bool = False  # the model leaves the answer to graph search

    async def run_steps(self) -> AsyncGenerator[Step, None]:
        """Ask, ask again if there is doubt, and then let the model look things up.

        Raises:
            BudgetSpent: the budget is used up; the results so far remain.
            ServiceError: the model fails; the results so far remain.
        """
        [voice] = self.voices
        conversation = voice.conversation
        yield conversation.to_prompt("question")
        for retries_left in reversed(range(self.max_retries + 1)):
            turn = (await conversation.take_turn()).step
            yield turn
            reply = self.judge.read_reply(turn.choice)
            if reply.same and self.verdict is not None:
                break
            verdict = await self.judge.judge_reply(reply, revised=retries_left < self.max_retries)
            self._accept(verdict)
            if verdict.answer is not None:
                yield Draft(verdict.answer.query, verdict.confidence, verdict.answer.words)
            if not verdict.doubts:
                break
            message = "\n".join([*verdict.doubts, _RETRY_INSTRUCTION]) if retries_left else ""
            yield Thought(verdict.remark, sent=self.unmask_text(message))
            if message:
                conversation.send_text(self.mask_text(message))
        if self.turns and self.toolbox is not None and self._should_look_up():
            async with aclosing(self._look_up(conversation, self.toolbox())) as steps:
                async for step in steps:
                    yield step
        await self._find_rival()

    async def _look_up(
        self, conversation: Conversation, toolbox: Toolbox
    ) -> AsyncGenerator[Step, None]:
        """Let the model look things up, and keep the answer or the reason why there is none."""
        async with aclosing(run_lookup_turns(conversation, toolbox, turns=self.turns)) as items:
            async for item in items:
                # Keep the outcome of a lookup: an answer, or the reason why there is none.
                if isinstance(item, Answer) and (
                    self.answer is None or not item.is_empty or self.answer.is_empty
                ):
                    self.answer = item
                    self.confidence = min(item.confidence, _MAX_LOOKUP_CONFIDENCE)
                if isinstance(item, ToolUse) and item.observation.ends == "cancel":
                    self.refusal_reason = item.observation.text
                if not isinstance(item, Answer):
                    yield item

    def mask_text(self, text: str) -> str:
        """Return a text as a model may read it."""
        masker = self.judge.candidates.masker
        return text if masker is None else masker.mask_text(text)

    def unmask_text(self, text: str) -> str:
        """Return a text for the model as a person may read it: with names for placeholders."""
        masker = self.judge.candidates.masker
        return text if masker is None else masker.unmask_text(text)

    def _accept(self, verdict: Verdict) -> None:
        """Keep the last answer, unless it is empty and there was one before."""
        self.verdict = verdict
        self.refusal_reason = verdict.reply.thought if verdict.is_refusal else ""
        if verdict.answer is None:
            return
        if self.answer is None or not verdict.answer.is_empty or self.answer.is_empty:
            self.answer, self.confidence = verdict.answer, verdict.confidence

    def _should_look_up(self) -> bool:
        """Return whether there is no acceptable answer yet."""
        verdict = self.verdict
        if verdict is None or verdict.is_refusal or verdict.reply.ask:
            return False
        return self.answer is None or self.answer.is_empty or verdict.signs.findings > 0

    async def _find_rival(self) -> None:
        """Keep the best comparable candidate with another result that graph search trusts."""
        verdict, current_answer = self.verdict, self.answer
        if (
            current_answer is None
            or verdict is None
            or not verdict.rival
            or verdict.signs.against < _MIN_RIVAL_CONFIDENCE
        ):
            return
        answer = await self.judge.answer_candidate(verdict.rival)

        async def is_comparable() -> bool:
            return answer is not None and self.judge.is_comparable(current_answer, answer)

        if answer is not None and await record_or_replay("rival", bool, is_comparable):
            self.rivals = (answer,)


@dataclass(eq=False)
class BriefPanel(Panel):
    """A small model that chooses a number, in two orders of the candidates.

    A number that follows the place of a candidate says nothing about it. So a number other than
    that of graph search's first candidate counts only if the second order, in which all candidates
    have other numbers, leads to the same candidate, and graph search is unsure.
    """

    async def run_steps(self) -> AsyncGenerator[Step, None]:
        """Ask once; ask again if the model does not take the first candidate."""
        is_follow_up, count = self.judge.candidates.is_follow_up, len(self.judge.chances)
        is_sure = any(chance >= _MAX_OVERRULED_CHANCE for chance in self.judge.chances[:1])
        numbers = set[int]()
        for shift, voice in enumerate(self.voices):
            yield voice.conversation.to_prompt(f"question ({voice.name})")
            turn = (await voice.conversation.take_turn()).step
            yield turn
            reply = self.judge.read_reply(turn.choice)
            if reply.problem or reply.same or reply.written:
                return
            numbers.add((reply.chosen + shift - 1) % count + 1 if reply.chosen else 0)
            if numbers == {1} or is_sure or count < 2:
                break
        self.keeps_search = not is_follow_up and (numbers == {1} or is_sure or len(numbers) > 1)
        if not self.keeps_search:
            self._accept(await self.judge.judge_reply(replace(reply, chosen=min(numbers))))


async def run_lookup_turns(
    conversation: Conversation, toolbox: Toolbox, *, turns: int
) -> AsyncGenerator[ModelTurn | ToolUse | Answer, None]:
    """Let the model call functions for some turns; its answer, if any, is the last item.

    There is no answer if the model cancels, calls nothing or reaches no end.

    Raises:
        BudgetSpent: the budget is used up.
        ServiceError: the model fails.
    """
    from askgraph.methods.shared.exploration import parse_answer_call  # few questions need it

    conversation.tools = toolbox.schemas
    conversation.options = {**conversation.options, "schema": None}
    conversation.send_text(_LOOKUP_INSTRUCTION.replace("{turns}", str(turns)))
    for turns_left in reversed(range(turns + 1)):
        turn = await conversation.take_turn()
        yield turn.step
        calls = turn.choice.calls or parse_answer_call(turn.choice.text, toolbox, "")
        if turn.problem is not None or not calls:
            return
        uses = await record_or_replay(
            "functions", tuple[ToolUse, ...], partial(toolbox.call_all, calls), calls
        )
        # The calls of a turn, those that end the run last, and then their answer.
        final_uses = [use for use in uses if use.observation.ends]
        answer = final_uses[0].observation.answer if final_uses else None
        is_answer = answer is not None and final_uses[0].observation.ends == "answer"
        lookups = [use for use in uses if not use.observation.ends]
        for use in (*lookups, *final_uses):
            yield use
        if is_answer and answer:
            yield answer
        if turn.choice.calls:
            conversation.send_observations(uses)
        else:
            conversation.send_text(uses[0].observation.text)
        if any(use.observation.ends for use in uses):
            return
        if turns_left == 1:
            conversation.send_text(_LAST_TURN_MESSAGE)


@dataclass(frozen=True)
class EndConditions:
    """The thresholds of an answer, whether to ask back, and the problem of the run, if any."""

    limits: Thresholds
    asks_back: bool = True
    problem: str = ""


async def decide_outcome(
    panel: Panel, candidates: CandidateSet, conditions: EndConditions
) -> Outcome:
    """Return the outcome of a run.

    If no model gave an answer, the outcome is that of graph search, marked as such.

    Raises:
        ServiceError: an endpoint is down.
    """
    if panel.keeps_search:
        search_outcome = await get_search_outcome(candidates, asks_back=conditions.asks_back)
        return replace(search_outcome, answered_by=Answerer("graph-search"))
    reply = panel.verdict.reply if panel.verdict is not None else GuidedReply()
    if (
        conditions.asks_back
        and reply.ask
        and (clarification := await _build_clarification(panel, reply))
    ):
        return clarification
    if panel.refusal_reason:
        # Give the model's reason with the best attempt, at low confidence.
        best_attempt = panel.answer
        if best_attempt is None and not candidates.is_follow_up:
            search_outcome = await get_search_outcome(candidates, asks_back=True)
            best_attempt = (
                search_outcome if isinstance(search_outcome, Answer) else search_outcome.best
            )
        if best_attempt is None:
            return Refusal(panel.refusal_reason)
        return Refusal(
            panel.refusal_reason,
            replace(
                best_attempt, confidence=min(best_attempt.confidence, _MAX_DECLINED_CONFIDENCE)
            ),
        )
    if panel.answer is None:
        return await _fall_back_to_search(candidates, conditions)
    confidence = round(panel.confidence, 4)
    answer = replace(panel.answer, confidence=confidence, cut_short=conditions.problem or None)
    match choose_outcome(confidence, conditions.limits):
        case "answer":
            return answer
        case "ask" if conditions.asks_back and panel.rivals:
            options = choose_options([answer, *panel.rivals])
            return Clarification(_CLARIFICATION_TEXT, options, answer) if options else answer
        case "ask":
            return answer
        case _:
            reason = "No answer is sure enough; the nearest one is shown."
            reason += f" {reply.thought}" if reply.thought else ""
            reason = "No query that was found has a result." if answer.is_empty else reason
            return Refusal(reason, answer)


async def _build_clarification(panel: Panel, reply: GuidedReply) -> Clarification | None:
    """Return the model's question, if the candidates that it names have different answers."""
    answers = [await panel.judge.answer_candidate(number) for number in reply.between]
    available_answers = [answer for answer in answers if answer is not None]
    options: tuple[Option, ...] = (
        choose_options(available_answers) if len(available_answers) > 1 else ()
    )
    if not options:
        return None
    return Clarification(reply.ask, options, panel.answer or available_answers[0])


async def _fall_back_to_search(candidates: CandidateSet, conditions: EndConditions) -> Outcome:
    """Return graph search's outcome, marked as such; refuse a follow-up question."""
    if candidates.is_follow_up:
        reason = conditions.problem or _UNUSABLE_REASON
        return Refusal(f"Graph search does not read earlier questions, and {reason}.")
    outcome = await get_search_outcome(candidates, asks_back=conditions.asks_back)
    search_outcome = replace(outcome, answered_by=Answerer("graph-search", failed=True))
    if isinstance(search_outcome, Answer):
        return replace(
            search_outcome,
            cut_short=conditions.problem or f"{_UNUSABLE_REASON}: this is what graph search found",
        )
    return search_outcome


async def get_search_outcome(candidates: CandidateSet, *, asks_back: bool) -> Outcome:
    """Return graph search's outcome; if it must not ask back, its best answer instead."""
    best_candidates = candidates.best
    search_outcome = await record_or_replay(
        "searched",
        Outcome,
        partial(best_candidates.search_run.decide_outcome, best_candidates.proposal),
    )
    if (
        isinstance(search_outcome, Clarification)
        and not asks_back
        and search_outcome.best is not None
    ):
        return search_outcome.best
    return search_outcome


_IDENTIFIER = re.compile(r"(?:.*[a-z_])?(?:I[dD]|_id|[iI]dentifier)|id|ID|code")
_MAX_COLUMNS = 8  # columns of a query that gets more
_MAX_TYPED_THINGS = 20  # things whose class decides which predicate names them
_MAX_LABELLED_ROWS = 200  # rows whose things get labels


async def add_context_columns(context: Context, answer: Answer) -> Answer:
    """Return an answer with context columns, so that a model need not write them.

    These are the value that the query sorts by or compares, the thing that an answered value
    belongs to, and the name and identifier of an answered thing. An addition that changes the rows
    or the columns that answer is dropped.

    Answers that were cut off, are empty, or read other graphs stay as they are, and so does an
    answer whose longer query fails.
    """
    result = answer.result
    if answer.boolean is not None or not result.rows or result.truncated is not None:
        return answer
    prefixes = context.graph.prefixes
    tree = to_tree(answer.query)
    if not tree.columns or len(tree.columns) > _MAX_COLUMNS or "SERVICE" in answer.query.upper():
        return answer
    extended = answer
    for add in (_add_values, _add_names):
        longer = add(tree, extended, context)
        if longer == tree:
            continue
        query = render_query(longer, prefixes, context.graph.profile.types)
        try:
            query_run = await run_query(context, query, rows=MAX_ROWS)
            rows = _order_rows(query_run.result, result)
            if rows is None:
                continue
            shown_rows = rows.rows[:_MAX_LABELLED_ROWS]
            iris = {term.value for row in shown_rows for term in row if isinstance(term, NamedNode)}
            labels = await fetch_labels(context, sorted(iris - answer.labels.keys()))
        except (QueryError, ServiceError):
            continue
        tree = longer
        extended = replace(extended, query=query, result=rows, labels={**extended.labels, **labels})
    return extended


def _order_rows(longer: object, result: SelectResult) -> SelectResult | None:
    """Return a result in the order of a shorter one; None unless these are the same rows."""
    if not isinstance(longer, SelectResult) or not {*result.variables} <= {*longer.variables}:
        return None
    indices = [longer.variables.index(name) for name in result.variables]
    rows: defaultdict[Row, list[Row]] = defaultdict(list)
    for row in longer.rows:
        rows[tuple(row[index] for index in indices)].append(row)
    if Counter(result.rows) != {key: len(group) for key, group in rows.items()}:
        return None
    return replace(longer, rows=tuple(rows[row].pop(0) for row in result.rows))


def _add_values(tree: Query, answer: Answer, context: Context) -> Query:
    """Return a query with the values that it sorts by or compares, and the owners of its values."""
    selected = {variable.value for variable, _ in tree.columns}
    columns = list(tree.columns)
    if tree.is_aggregate or tree.group_by:
        for key, _ in tree.order:
            is_selected = any(expression == key for _, expression in tree.columns)
            if isinstance(key, Call) and key.is_aggregate and not is_selected:
                columns.append((_find_free_variable("value", tree), key))
        return replace(tree, columns=tuple(columns))
    compared = (element for element in tree.where.elements if isinstance(element, Filter))
    values = [
        variable
        for part in (*(key for key, _ in tree.order), *(item.condition for item in compared))
        if not (isinstance(part, Call) and any(isinstance(item, Group) for item in part.arguments))
        for variable in find_variables(part)
    ]
    owners = [
        pattern.subject
        for pattern in list_patterns(tree.where)
        if isinstance(pattern.object, Variable) and pattern.object.value in selected
        and isinstance(pattern.subject, Variable) and not _holds_things(answer, pattern.object)
    ]  # fmt: skip
    bound = {*map(str, find_variables(tree.where))}
    for variable in dict.fromkeys((*owners, *values)):
        is_new = variable.value not in selected and not variable.value.startswith("__")
        if is_new and str(variable) in bound:
            columns.append((variable, None))
    return replace(tree, columns=tuple(columns))


def _holds_things(answer: Answer, variable: Variable) -> bool:
    if variable.value not in answer.result.variables:
        return False
    return any(isinstance(term, NamedNode) for term in answer.result.get_column(variable.value))


def _add_names(tree: Query, answer: Answer, context: Context) -> Query:
    """Return a query with the name and the identifier of each thing in its columns."""
    if tree.is_aggregate or tree.group_by or tree.limit is not None:
        return tree
    columns, elements = list(tree.columns), list[Element](tree.where.elements)
    used = {(str(pattern.subject), str(pattern.predicate)) for pattern in list_patterns(tree.where)}
    for name in answer.result.variables:
        terms = [term for term in answer.result.get_column(name) if isinstance(term, NamedNode)]
        for predicate in _list_naming_predicates(terms[:_MAX_TYPED_THINGS], context):
            if (str(Variable(name)), f"<{predicate.iri}>") in used:
                continue
            suffix = "name" if predicate.naming else "id"
            value = _find_free_variable(f"{name}_{suffix}", tree)
            pattern = Pattern(Variable(name), NamedNode(predicate.iri), value)
            language = _choose_language(predicate, context)
            conditions = (
                [Filter(Call("=", (Call("LANG", (value,)), Literal(language))))] if language else []
            )
            elements.append(Nested("OPTIONAL", Group((pattern, *conditions))))
            columns.append((value, None))
    where = replace(tree.where, elements=tuple(elements))
    return replace(tree, columns=tuple(columns), where=where)


def _list_naming_predicates(
    terms: Iterable[NamedNode], context: Context
) -> Iterator[PredicateProfile]:
    """Yield the predicates that name and identify most of the terms, in one way each."""
    graph, profile = context.graph, context.graph.profile
    classes = Counter[str]()
    for term in terms:
        classes.update(look_up_types(graph.arrays, str(term)) if graph.arrays else ())
    if not classes:
        return
    [(class_iri, _)] = classes.most_common(1)
    name_predicates = [cls.name_predicate for cls in profile.classes if cls.iri == class_iri]
    for predicate in profile.predicates:
        if not predicate.literal or class_iri not in dict(predicate.subject_classes):
            continue
        local_name = re.split(r"[/#:]", predicate.iri)[-1]
        is_identifier = predicate.functional and _IDENTIFIER.fullmatch(local_name)
        if predicate.iri in name_predicates or is_identifier:
            yield predicate


def _choose_language(predicate: PredicateProfile, context: Context) -> str:
    """Return the language in which names are added; "" if a predicate has only one."""
    languages = [language for language, _ in predicate.languages]
    if len(languages) < 2:
        return ""
    return context.language if context.language in languages else languages[0]


def _find_free_variable(name: str, tree: Query) -> Variable:
    """Return a variable that a query does not use."""
    used = {variable.value for variable in find_variables(tree)}
    return Variable(name if name not in used else f"{name}_2")
