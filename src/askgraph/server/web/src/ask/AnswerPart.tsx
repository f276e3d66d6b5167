// An answer: its headline, its reading and confidence, then the details.

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { edit } from "../api/ask.ts";
import { checkQuery, type Refinement, refine } from "../api/graphs.ts";
import type * as api from "../api/types.ts";
import { isListed, may } from "../app/known.ts";
import { Later } from "../app/Later.tsx";
import { showRun } from "../app/router.ts";
import { formatPercent, formatTime, named } from "../i18n/index.ts";
import { useAttempt, useFetched } from "../parts/asking.ts";
import { markQuestion } from "../parts/marks.ts";
import { Button, Fold, Note, ProblemNote, QuietButton } from "../parts/parts.tsx";
import type { ResultViewProps } from "../results/ResultView.tsx";
import { again, chooseReading, type Turn } from "./conversation.ts";
import { Drafts } from "./Drafts.tsx";
import { HeadlineView, headlineOf, speakHeadline, wantsPlaces } from "./HeadlineView.tsx";
import { Instead, Options, Refusal } from "./Options.tsx";
import { Ranking, useRanking } from "./Ranking.tsx";
import { ReadBack } from "./ReadBack.tsx";
import { readerOf, spokenBy } from "./reading.ts";
import { StepsOf } from "./Steps.tsx";
import { Lessons, type Standing, useStanding, Verdict } from "./Verdict.tsx";
import { say } from "./words.ts";

/** Loads the result views, which the question box does not need. */
export const results = () => import("../results/ResultView.tsx").then((found) => found.ResultView);

/** Loads the chips that arrange the rows. */
export const arranging = () => import("../results/ResultView.tsx").then((found) => found.Arranging);

const editor = () => import("../editor/QueryEditor.tsx").then((found) => found.QueryEditor);
const teaching = () => import("../teach/TeachForm.tsx").then((found) => found.TeachForm);

interface AnswerPartProps {
  readonly turn: Turn;
  readonly run: api.RunView;
  readonly answer: api.AnswerView;
  readonly isLast: boolean;
}

export function AnswerPart({ turn, run, answer, isLast }: AnswerPartProps) {
  const [isNone, setNone] = useState(false);
  const [attempt, problem, setProblem] = useAttempt();
  const [isBusy, setBusy] = useState(false);
  const [wrong, setWrong] = useState(0);
  const [shown, setShown] = useState<{ of: api.AnswerView; how: api.AnswerDisplay } | null>(null);
  const [arranged, setArranged] = useState<{ of: string; how: api.ArrangementView | null }>();
  const { sparql, status } = answer;
  const graph = answer.graph ?? run.graphs[0] ?? "";
  const asked = run.changed_from ?? run.question;
  const standing = useStanding(graph, answer.confirmed);
  const read = readerOf(graph, run);
  const ranking = useRanking(run, answer);
  const isShown = sparql !== null && (status !== "clarification" || isNone) && !problem;
  const isOpen = isShown && (status === "answer" || status === "edited");
  const written = run.changes === null ? null : sparql;
  const findings = useFetched(`${graph} ${written}`, async () =>
    written === null ? null : checkQuery(graph, written),
  );
  const part = useRef<HTMLDivElement>(null);
  const isWaiting = isOpen && (arranged?.of !== sparql || ranking.busy);
  const [isSettling, isLate, hasPainted] = useSettling(part, isOpen, isWaiting);
  const runChanged = async (query: string) => {
    setBusy(true);
    await attempt(async () => {
      const changed = await edit(run.id, query);
      chooseReading(turn, changed);
      showRun(changed.id);
    });
    setBusy(false);
  };
  const open = (query: string) => void runChanged(query);
  const arrangement = may("query") && arranged?.of === sparql ? arranged.how : null;
  const rearrange = (wanted: Refinement) =>
    attempt(async () =>
      runChanged((await refine(graph, sparql ?? "", wanted, spokenBy(run))).query),
    );
  const add = (wanted: Refinement) => void rearrange(wanted);
  const details = () => (
    <>
      {ranking.value && !isLate && <Ranking value={ranking.value} graph={graph} />}
      {answer.interpretation && (
        <p class="measure large" dir="auto">
          <span class="seen-by-readers">{named(say.saysModel)}</span>
          {answer.interpretation}
        </p>
      )}
      <ReadBack
        {...{ answer, graph }}
        question={run.question}
        language={spokenBy(run)}
        run={runChanged}
        onRead={(of, parts) => {
          setArranged({ of, how: parts.arrangement });
          turn.marked.value = markQuestion(parts);
        }}
      />
      {answer.unused_words.length > 0 && (
        <p class="muted small unused">
          {named(say.unused)}
          <bdi>{answer.unused_words.join(", ")}</bdi>
        </p>
      )}
      {run.changes !== null && <Chosen run={run} original={run.changes} />}
      {run.changes !== null && run.mine && may("confirm") && (
        <Lessons key={run.id} run={run.id} graph={graph} />
      )}
      {run.changes === null && answer.confidence !== null && !answer.confirmed && (
        <Confidence value={answer.confidence} />
      )}
      {status === "answer" && <Instead {...{ answer, run }} />}
      <Notes {...{ answer, turn, standing }} findings={findings.value?.findings ?? []} />
      {arrangement && (
        <Later isQuiet load={arranging} props={{ answer, arrangement, refine: rearrange }} />
      )}
      <Result
        {...{ answer, graph }}
        runId={run.id}
        question={asked}
        leftOut={ranking.value?.left_out ?? 0}
        wantsMap={answer.total > 1 && wantsPlaces(asked)}
        onShown={(how) => setShown({ of: answer, how })}
        adding={arrangement && { answer, graph, arrangement, add }}
      />
      <Verdict
        {...{ turn, run, standing }}
        shown={shown?.of === answer ? shown.how : {}}
        onWrong={() => setWrong(wrong + 1)}
      />
      {ranking.value && isLate && <Ranking value={ranking.value} graph={graph} />}
    </>
  );
  const whole = () => (
    <>
      <HeadlineView answer={answer} graph={graph} />
      {hasPainted && details()}
    </>
  );
  return (
    <div
      class={isSettling ? "answer stack settling" : "answer stack"}
      ref={part}
      data-status={status}
      aria-busy={isBusy}
    >
      <p class="seen-by-readers" role="status">
        {isLast &&
          !problem &&
          say.answerIs(answer.clarification || answer.reason || speakHeadline(answer))}
      </p>
      {status === "clarification" && (
        <Options {...{ turn, run, answer, isNone }} none={() => setNone(true)} />
      )}
      {status === "refusal" && <Refusal answer={answer} run={run} />}
      {problem && <Faulty problem={problem} back={() => setProblem(null)} />}
      {isShown && (isOpen ? whole() : <Fold title={say.bestEffort}>{whole}</Fold>)}
      <div class="folds">
        {sparql !== null && (
          <Fold class="query" title={say.query} more="SPARQL">
            {() => (
              <Later
                load={editor}
                props={{
                  ...{ graph, query: sparql, isBusy, canRun: may("query"), run: open },
                  marks: turn.marked.value.marks,
                }}
              />
            )}
          </Fold>
        )}
        <Drafts {...{ turn, open, read }} shown={answer} wanted={wrong} />
        {run.mine && (
          <Fold title={say.teach} wanted={wrong}>
            {() => (
              <Later
                load={teaching}
                props={{
                  question: asked,
                  graph,
                  unused: findUnusedWords(turn, answer),
                  taught: () => again(turn),
                }}
              />
            )}
          </Fold>
        )}
        <StepsOf turn={turn} run={run} read={read} />
      </div>
    </div>
  );
}

const [QUIET, PATIENCE] = [60, 2500]; // milliseconds

/**
 * Whether what is below the headline is still hidden, so that nothing moves that can be seen: until
 * its parts are there, but not for long. Also whether that was too late for some part, and whether
 * the first frame is painted: the headline, which people wait for, is drawn alone.
 */
function useSettling(
  part: RefObject<HTMLElement | null>,
  isWanted: boolean,
  isWaiting: boolean,
): readonly [isSettling: boolean, isLate: boolean, hasPainted: boolean] {
  const [hasPainted, setPainted] = useState(false);
  const [end, setEnd] = useState<"whole" | "late" | null>(isWanted ? null : "whole");
  const waits = useRef(isWaiting);
  waits.current = isWaiting;
  useEffect(() => {
    setPainted(true);
    const over = () => setEnd((before) => before ?? (waits.current ? "late" : "whole"));
    const timer = setTimeout(over, PATIENCE);
    return () => clearTimeout(timer);
  }, []);
  useEffect(() => {
    if (isWaiting || !hasPainted || end !== null || !part.current) return undefined;
    const look = () => {
      clearTimeout(timer);
      timer = setTimeout(() => !part.current?.querySelector(".later") && setEnd("whole"), QUIET);
    };
    let timer = setTimeout(look);
    const changes = new MutationObserver(look);
    changes.observe(part.current, { childList: true, subtree: true });
    return () => {
      clearTimeout(timer);
      changes.disconnect();
    };
  }, [isWaiting, hasPainted, end]);
  return [end === null, end === "late", hasPainted];
}

/** The words of a question that its answer does not use, or that were not understood. */
function findUnusedWords(turn: Turn, { unused_words: unused }: api.AnswerView): readonly string[] {
  if (unused.length > 0) return unused;
  return turn.steps.value.find((step) => step.step === "findings")?.unused_words ?? [];
}

/** The result; folded away if the headline shows all of it. */
export function Result(props: ResultViewProps) {
  const { answer } = props;
  if (answer.total === 0 && answer.evidence.length === 0) return null;
  const context = answer.columns.length - answer.answer_columns.length;
  const hasContext = context > 0 || (answer.total > 1 && answer.context?.columns.length);
  const headline = headlineOf(answer);
  const isThing = headline.kind === "value" && headline.cells[0]?.type === "iri";
  const hasCard = isThing && isListed(props.graph);
  const result = <Later load={results} props={props} />;
  if (headline.kind === "table" || hasContext || hasCard || props.wantsMap) return result;
  return (
    <Fold class="result-fold" title={say.results}>
      {result}
    </Fold>
  );
}

/** The failure of a changed query; the earlier answer's result is not shown for it. */
function Faulty({ problem, back }: { problem: api.Problem; back: () => void }) {
  return (
    <div class="stack" role="group" aria-label={say.faulty}>
      <p class="headline nothing muted">{say.faulty}</p>
      <ProblemNote problem={problem} />
      <p>
        <Button onClick={back} text={say.backToAnswer} />
      </p>
    </div>
  );
}

/** Notes that a person chose or changed the reading, with a button back to the previous one. */
function Chosen({ run, original }: { run: api.RunView; original: string }) {
  return (
    <p class="row small chosen-reading">
      {run.mine && <span class="chip">{say.chosen}</span>}
      {run.changed_from && <bdi>{say.changedFrom(run.changed_from)}</bdi>}
      {run.mine && <QuietButton icon="undo" onClick={() => showRun(original)} text={say.back} />}
    </p>
  );
}

/** The confidence of an answer: a word, the same as on the command line, a bar, and the number. */
function Confidence({ value }: { value: number }) {
  const percent = Math.floor(value * 100 + 1e-9); // 84.9 is not yet the 85 that is sure
  const word = sureness(value);
  return (
    <p class={`row confidence ${word}`} title={say.confidence(percent)}>
      <span class="seen-by-readers">{named(say.sureness)}</span>
      <span class="confidence-word">{say[word]}</span>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect width="100" height="6" rx="3" />
        <rect width={Math.max(4, percent)} height="6" rx="3" />
      </svg>
      <span class="number muted small" aria-hidden="true">
        {formatPercent(percent / 100)}
      </span>
      <span class="seen-by-readers">{say.confidence(percent)}</span>
    </p>
  );
}

/** The word for a confidence between 0 and 1. */
export function sureness(confidence: number): "sure" | "fairly" | "unsure" | "guess" {
  if (confidence >= 0.85) return "sure";
  if (confidence >= 0.6) return "fairly";
  return confidence >= 0.35 ? "unsure" : "guess";
}

// Notes for judging an answer: that it is empty and why, cut off, or confirmed before.

interface NotesProps {
  readonly answer: api.AnswerView;
  readonly turn: Turn;
  readonly findings: readonly api.FindingView[];
  readonly standing: Standing;
}

function Notes({ answer, turn, findings, standing }: NotesProps) {
  const { confirmed, truncated, why_empty, cut_short } = answer;
  return (
    <>
      {why_empty && (
        <Note title={say.whyEmpty}>
          <p class="lines" dir="auto">
            {why_empty}
          </p>
        </Note>
      )}
      {findings.length > 0 && (
        <Note look="warn" title={answer.total === 0 && !why_empty ? say.whyEmpty : say.checked}>
          {findings.map((finding) => (
            <p key={`${finding.check} ${finding.message}`} dir="auto">
              {finding.message}
            </p>
          ))}
        </Note>
      )}
      {cut_short && <Note look="warn" text={named(say.cutShort, cut_short)} />}
      {truncated && answer.total <= answer.cells.length && (
        <Note text={named(say.cutOff, truncated.reason)} />
      )}
      {confirmed && (
        <Note look="good">
          <p>
            <strong>{say.confirmedBefore(formatTime(confirmed.when))}.</strong>{" "}
            {confirmed.question !== turn.question && (
              <bdi>{say.confirmedAs(confirmed.question)}</bdi>
            )}
          </p>
          {confirmed.change && <p dir="auto">{confirmed.change}</p>}
          {standing.isGone && <p role="status">{standing.words.done}</p>}
          <p class="row">
            <Button onClick={() => again(turn, { anew: true })}>
              {standing.isGone ? say.askAgain : say.askAnew}
            </Button>
            {standing.end && (
              <QuietButton onClick={() => void standing.end?.()} text={standing.words.end} />
            )}
          </p>
          <ProblemNote problem={standing.problem} />
        </Note>
      )}
    </>
  );
}
