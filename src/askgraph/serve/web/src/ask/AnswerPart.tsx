// An answer: first its headline, then its reading and its confidence, then all the rest.

import { useState } from "preact/hooks";
import { answerOf, looked } from "../api/graphs.ts";
import type { AnswerView, Finding, Problem, RunView } from "../api/types.ts";
import { may } from "../app/known.ts";
import { Later } from "../app/Later.tsx";
import { useAttempt } from "../parts/asking.ts";
import { Button, ProblemNote } from "../parts/parts.tsx";
import type { Turn } from "./conversation.ts";
import { Drafts } from "./Drafts.tsx";
import { HeadlineView, spokenHeadline } from "./HeadlineView.tsx";
import { headlineOf } from "./headline.ts";
import { Notes } from "./Notes.tsx";
import { Options, Refusal } from "./Options.tsx";
import { ReadBack } from "./ReadBack.tsx";
import { readerOf, spokenBy } from "./reading.ts";
import { StepsOf } from "./Steps.tsx";
import { useStanding, Verdict } from "./Verdict.tsx";
import { say } from "./words.ts";

/** Loads how results are shown, which the question box can do without. */
export const results = () => import("../results/ResultView.tsx").then((found) => found.ResultView);

interface AnswerPartProps {
  readonly turn: Turn;
  readonly run: RunView;
  readonly answer: AnswerView;
  readonly isLast: boolean;
}

export function AnswerPart({ turn, run, answer: first, isLast }: AnswerPartProps) {
  const [changed, setChanged] = useState<AnswerView | null>(null);
  const [findings, setFindings] = useState<readonly Finding[]>([]);
  const [isNone, setNone] = useState(false);
  const [attempt, problem, setProblem] = useAttempt();
  const [isBusy, setBusy] = useState(false);
  const answer = changed ?? first;
  const graph = first.graph ?? run.graphs[0] ?? "";
  const standing = useStanding(graph, first.confirmed);
  const read = readerOf(graph, run);
  const spoken = answer.status === "clarification" ? say.clarification : spokenHeadline(answer);

  const runChanged = async (query: string, language = spokenBy(run)) => {
    setBusy(true);
    await attempt(async () => {
      const columns = first.answer_columns;
      const [found, odd] = await Promise.all([
        answerOf(graph, { query, language, columns }),
        looked(graph, query),
      ]);
      setFindings(odd?.findings ?? []);
      setChanged(found);
    });
    setBusy(false);
  };
  const back = () => {
    setChanged(null);
    setFindings([]);
    setProblem(null);
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
          {answer.status !== "answer" && changed === null && (
            <h3 class="best-effort">{say.bestEffort}</h3>
          )}
          <HeadlineView answer={answer} graph={graph} />
          {answer.interpretation && (
            <p class="interpretation" dir="auto">
              <span class="seen-by-readers">{say.saysModel}: </span>
              {answer.interpretation}
            </p>
          )}
          <ReadBack
            answer={answer}
            graph={graph}
            question={run.question}
            language={spokenBy(run)}
            isChanged={changed !== null}
            run={runChanged}
            back={back}
          />
          {changed === null && <Unused words={answer.unused_words} />}
          {changed === null && <Confidence value={answer.confidence} />}
          <Notes {...{ answer, turn, findings, standing }} />
          <Result answer={answer} runId={changed === null ? run.id : null} graph={graph} />
          <Verdict {...{ turn, run, standing }} query={changed?.sparql ?? null} />
        </>
      )}
      <div class="folds">
        {answer.sparql !== null && (
          <QueryPart
            graph={graph}
            query={answer.sparql}
            original={first.sparql ?? ""}
            isBusy={isBusy}
            canRun={may("query")}
            run={(query) => void runChanged(query)}
          />
        )}
        <Drafts
          turn={turn}
          shown={answer.sparql}
          open={(query) => void runChanged(query)}
          read={read}
        />
        <StepsOf turn={turn} run={run} read={read} />
      </div>
    </div>
  );
}

/** The result; folded away if the headline shows all of it. */
function Result(props: { answer: AnswerView; runId: string | null; graph: string }) {
  const { answer } = props;
  if (answer.total === 0 && answer.evidence.length === 0) return null;
  const hasContext = answer.columns.length > answer.answer_columns.length;
  const headline = headlineOf(answer);
  const isThing = headline.kind === "value" && headline.cells[0]?.type === "iri";
  if (headline.kind === "table" || hasContext || isThing)
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
    <section class="faulty stack" aria-label={say.faulty}>
      <p class="headline nothing">{say.faulty}</p>
      <ProblemNote problem={problem} />
      <p>
        <Button onClick={back}>{say.backToAnswer}</Button>
      </p>
    </section>
  );
}

// The confidence of an answer: a word, a bar, and the meaning of the number.

function Confidence({ value }: { value: number }) {
  const percent = Math.round(value * 100);
  const word = sureness(value);
  return (
    <p class={`confidence ${word}`} title={say.confidence(percent)}>
      <span class="seen-by-readers">{say.sureness}: </span>
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
      {say.unused}: <bdi>{words.join(", ")}</bdi>
    </p>
  );
}

// The query of an answer, folded away; opened, it is an editor that is loaded then.

interface QueryPartProps {
  readonly graph: string;
  readonly query: string;
  readonly original: string;
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
