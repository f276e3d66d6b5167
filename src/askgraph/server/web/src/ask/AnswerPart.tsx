// An answer: first its headline, then its reading and its confidence, then all the rest.

import { useState } from "preact/hooks";
import { edit } from "../api/ask.ts";
import type { Shown } from "../api/boards.ts";
import { looked, refine } from "../api/graphs.ts";
import type { AnswerView, Arrangement, Problem, RunView } from "../api/types.ts";
import { may } from "../app/known.ts";
import { Later } from "../app/Later.tsx";
import { navigate } from "../app/router.ts";
import { named } from "../i18n/index.ts";
import { useAttempt, useFetched } from "../parts/asking.ts";
import { Button, ProblemNote } from "../parts/parts.tsx";
import type { ResultViewProps } from "../results/ResultView.tsx";
import { again, chosenReading, type Turn } from "./conversation.ts";
import { Drafts } from "./Drafts.tsx";
import { HeadlineView, spokenHeadline } from "./HeadlineView.tsx";
import { headlineOf, wantsPlaces } from "./headline.ts";
import { Notes } from "./Notes.tsx";
import { Options, Refusal } from "./Options.tsx";
import { ReadBack } from "./ReadBack.tsx";
import { readerOf, spokenBy } from "./reading.ts";
import { StepsOf } from "./Steps.tsx";
import { Teach, unusedIn } from "./Teach.tsx";
import { useStanding, Verdict } from "./Verdict.tsx";
import { say } from "./words.ts";

/** Loads how results are shown, which the question box can do without. */
export const results = () => import("../results/ResultView.tsx").then((found) => found.ResultView);

/** Loads the chips that arrange the rows. */
export const arranging = () => import("../results/Arranging.tsx").then((found) => found.Arranging);

interface AnswerPartProps {
  readonly turn: Turn;
  readonly run: RunView;
  readonly answer: AnswerView;
  readonly isLast: boolean;
}

export function AnswerPart({ turn, run, answer, isLast }: AnswerPartProps) {
  const [isNone, setNone] = useState(false);
  const [attempt, problem, setProblem] = useAttempt();
  const [isBusy, setBusy] = useState(false);
  const [wrong, setWrong] = useState(0);
  const [shown, setShown] = useState<{ of: AnswerView; how: Shown } | null>(null);
  const [arranged, setArranged] = useState<{ query: string; how: Arrangement | null } | null>(null);
  const graph = answer.graph ?? run.graphs[0] ?? "";
  const standing = useStanding(graph, answer.confirmed);
  const read = readerOf(graph, run);
  const spoken = answer.clarification || spokenHeadline(answer);
  const written = run.changes === null ? null : answer.sparql;
  const findings = useFetched(`${graph} ${written}`, async () =>
    written === null ? null : looked(graph, written),
  );

  const runChanged = async (query: string) => {
    setBusy(true);
    await attempt(async () => {
      const changed = await edit(run.id, query);
      chosenReading(turn, changed);
      navigate(`/run/${changed.id}`, { stay: true });
    });
    setBusy(false);
  };
  const isShown = answer.sparql !== null && (answer.status !== "clarification" || isNone);
  return (
    <div class="answer" data-status={answer.status} aria-busy={isBusy}>
      <p class="seen-by-readers" role="status">
        {isLast && !problem ? say.answerIs(spoken) : ""}
      </p>
      {answer.status === "clarification" && (
        <Options {...{ turn, run, answer, isNone }} none={() => setNone(true)} />
      )}
      {answer.status === "refusal" && <Refusal answer={answer} run={run} />}
      {problem && <Faulty problem={problem} back={() => setProblem(null)} />}
      {isShown && !problem && (
        <>
          {answer.status !== "answer" && <p class="best-effort">{say.bestEffort}</p>}
          <HeadlineView answer={answer} graph={graph} />
          {answer.interpretation && (
            <p class="interpretation" dir="auto">
              <span class="seen-by-readers">{named(say.saysModel)}</span>
              {answer.interpretation}
            </p>
          )}
          <ReadBack
            answer={answer}
            graph={graph}
            question={run.question}
            language={spokenBy(run)}
            run={runChanged}
            onRead={(query, parts) => setArranged({ query, how: parts.arrangement })}
          />
          <Unused words={answer.unused_words} />
          {run.changes === null ? (
            answer.confidence !== null && <Confidence value={answer.confidence} />
          ) : (
            <Chosen original={run.changes} />
          )}
          <Notes {...{ answer, turn, standing }} findings={findings.value?.findings ?? []} />
          {arranged?.how && arranged.query === answer.sparql && may("query") && (
            <Later
              isQuiet
              load={arranging}
              props={{
                answer,
                arrangement: arranged.how,
                refine: (wanted) =>
                  attempt(async () => {
                    const made = await refine(graph, arranged.query, wanted, spokenBy(run));
                    await runChanged(made.query);
                  }),
              }}
            />
          )}
          <Result
            answer={answer}
            runId={run.id}
            graph={graph}
            wantsMap={answer.total > 1 && wantsPlaces(turn.question)}
            onShown={(how) => setShown({ of: answer, how })}
          />
          <Verdict
            {...{ turn, run, standing }}
            shown={shown?.of === answer ? shown.how : {}}
            onWrong={() => setWrong(wrong + 1)}
          />
        </>
      )}
      <div class="folds">
        {answer.sparql !== null && (
          <QueryPart
            graph={graph}
            query={answer.sparql}
            isBusy={isBusy}
            canRun={may("query")}
            run={(query) => void runChanged(query)}
          />
        )}
        <Drafts
          turn={turn}
          shown={answer}
          wanted={wrong}
          open={(query) => void runChanged(query)}
          read={read}
        />
        {run.mine && (
          <Teach
            question={run.question}
            graph={graph}
            unused={unusedIn(answer, turn.steps.value)}
            wanted={wrong}
            taught={() => again(turn, {}, (id) => navigate(`/run/${id}`, { stay: true }))}
          />
        )}
        <StepsOf turn={turn} run={run} read={read} />
      </div>
    </div>
  );
}

/** The result; folded away if the headline shows all of it. */
export function Result(props: ResultViewProps) {
  const { answer } = props;
  if (answer.total === 0 && answer.evidence.length === 0) return null;
  const hasContext = answer.columns.length > answer.answer_columns.length;
  const headline = headlineOf(answer);
  const isThing = headline.kind === "value" && headline.cells[0]?.type === "iri";
  if (headline.kind === "table" || hasContext || isThing || props.wantsMap)
    return <Later load={results} props={props} />;
  return (
    <details class="fold result-fold">
      <summary>
        <span>{say.results}</span>
      </summary>
      <Later load={results} props={props} />
    </details>
  );
}

/** The failure of a changed query, whose result is not that of the answer before. */
function Faulty({ problem, back }: { problem: Problem; back: () => void }) {
  return (
    <div class="faulty stack" role="group" aria-label={say.faulty}>
      <p class="headline nothing">{say.faulty}</p>
      <ProblemNote problem={problem} />
      <p>
        <Button onClick={back}>{say.backToAnswer}</Button>
      </p>
    </div>
  );
}

// That a person chose the reading, and the way back to the one before.

function Chosen({ original }: { original: string }) {
  return (
    <p class="row small chosen-reading">
      <span class="chip">{say.chosen}</span>
      <Button
        look="quiet small"
        icon="undo"
        onClick={() => navigate(`/run/${original}`, { stay: true })}
      >
        {say.back}
      </Button>
    </p>
  );
}

// The confidence of an answer: a word, a bar, and the meaning of the number.

function Confidence({ value }: { value: number }) {
  const percent = Math.round(value * 100);
  const word = sureness(value);
  return (
    <p class={`confidence ${word}`} title={say.confidence(percent)}>
      <span class="seen-by-readers">{named(say.sureness)}</span>
      <span class="confidence-word">{say[word]}</span>
      <svg class="confidence-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="confidence-all" width="100" height="6" rx="3" />
        <rect class="confidence-part" width={Math.max(4, percent)} height="6" rx="3" />
      </svg>
      <span class="number muted small" aria-hidden="true">
        {percent} %
      </span>
      <span class="seen-by-readers">{say.confidence(percent)}</span>
    </p>
  );
}

// The words for a confidence, the same as on the command line.

type Sureness = "sure" | "fairly" | "unsure" | "guess";

/** The word for a confidence between 0 and 1. */
export function sureness(confidence: number): Sureness {
  if (confidence >= 0.85) return "sure";
  if (confidence >= 0.6) return "fairly";
  return confidence >= 0.35 ? "unsure" : "guess";
}

// The words of the question that no part of the query stands for.

function Unused({ words }: { words: readonly string[] }) {
  if (words.length === 0) return null;
  return (
    <p class="muted small unused">
      {named(say.unused)}
      <bdi>{words.join(", ")}</bdi>
    </p>
  );
}

// The query of an answer, folded away; opened, it is an editor that is loaded then.

interface QueryPartProps {
  readonly graph: string;
  readonly query: string;
  readonly isBusy: boolean;
  readonly canRun: boolean;
  readonly run: (query: string) => void;
}

const editor = () => import("../editor/QueryEditor.tsx").then((found) => found.QueryEditor);

function QueryPart(props: QueryPartProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="fold query" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span>{say.query}</span>
        <span class="fold-more">SPARQL</span>
      </summary>
      {isOpen && <Later load={editor} props={props} />}
    </details>
  );
}
