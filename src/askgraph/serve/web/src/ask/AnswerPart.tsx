// An answer: first what it says, then how it was read and how sure it is, then all the rest.

import { useState } from "preact/hooks";
import { parts as partsOf, runQuery } from "../api/graphs.ts";
import { problemFrom } from "../api/http.ts";
import type { AnswerView, Problem, RunView } from "../api/types.ts";
import { may } from "../app/known.ts";
import { Later } from "../app/Later.tsx";
import { language } from "../i18n/index.ts";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import { Confidence } from "./Confidence.tsx";
import type { Turn } from "./conversation.ts";
import { Drafts } from "./Drafts.tsx";
import { edited } from "./edited.ts";
import { HeadlineView, spokenHeadline } from "./HeadlineView.tsx";
import { headlineOf } from "./headline.ts";
import { Notes } from "./Notes.tsx";
import { Options } from "./Options.tsx";
import { QueryPart } from "./QueryPart.tsx";
import { ReadBack } from "./ReadBack.tsx";
import { StepsOf } from "./StepsOf.tsx";
import { Verdict } from "./Verdict.tsx";
import { words } from "./words.ts";

/** Loads how results are shown, which the question box can do without. */
export const results = () => import("../results/ResultView.tsx").then((found) => found.ResultView);

export interface AnswerPartProps {
  readonly turn: Turn;
  readonly run: RunView;
  readonly answer: AnswerView;
  readonly isLast: boolean;
}

export function AnswerPart({ turn, run, answer: first, isLast }: AnswerPartProps) {
  const say = words();
  const [changed, setChanged] = useState<AnswerView | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const answer = changed ?? first;
  const graph = first.graph ?? run.graphs[0] ?? "";
  const spoken = answer.status === "clarification" ? say.clarification : spokenHeadline(answer);

  const runChanged = async (query: string, words: string, told = spokenBy(run)) => {
    setBusy(true);
    setProblem(null);
    try {
      const found = await runQuery(graph, query, told);
      setChanged(edited(first, query, found, words || (await wordsOf(graph, query, run))));
    } catch (error) {
      setProblem(problemFrom(error));
    } finally {
      setBusy(false);
    }
  };
  const back = () => {
    setChanged(null);
    setProblem(null);
  };
  return (
    <div class="answer" data-status={answer.status} aria-busy={isBusy}>
      <p class="seen-by-readers" role="status">
        {isLast ? say.answerIs(spoken) : ""}
      </p>
      {answer.status === "clarification" && <Options turn={turn} run={run} answer={answer} />}
      {answer.status === "refusal" && <Refusal answer={answer} />}
      {answer.sparql !== null && answer.status !== "clarification" && (
        <>
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
          {problem && <ProblemNote problem={problem} />}
          {changed === null && <Confidence value={answer.confidence} />}
          <Notes answer={answer} turn={turn} />
          <Result answer={answer} runId={changed === null ? run.id : null} graph={graph} />
          <Verdict turn={turn} run={run} query={changed?.sparql ?? null} />
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
            run={(query) => void runChanged(query, "")}
          />
        )}
        <Drafts
          turn={turn}
          shown={answer.sparql}
          open={(query, read) => void runChanged(query, read)}
          read={(query) => wordsOf(graph, query, run)}
        />
        <StepsOf turn={turn} run={run} />
      </div>
    </div>
  );
}

/** The result; folded away where the headline says all of it. */
function Result(props: { answer: AnswerView; runId: string | null; graph: string }) {
  const { answer } = props;
  if (answer.total === 0 && answer.evidence.length === 0) return null;
  const hasContext = answer.columns.length > answer.answer_columns.length;
  if (headlineOf(answer).kind === "table" || hasContext)
    return <Later load={results} props={props} />;
  return (
    <details class="fold result-fold">
      <summary>
        <span>{words().results}</span>
      </summary>
      <Later load={results} props={props} />
    </details>
  );
}

/** A query read back; "" where it cannot be, which is no reason not to show its result. */
async function wordsOf(graph: string, query: string, run: RunView): Promise<string> {
  try {
    const asked = { query, language: spokenBy(run), question: run.question, alternatives: false };
    const read = await partsOf(graph, asked);
    return read.pieces.map((piece) => piece.text).join("");
  } catch {
    return "";
  }
}

/** The language to tell of a run in: that of its question, where it is known. */
function spokenBy(run: RunView): string {
  return run.language ?? language.value;
}

function Refusal({ answer }: { answer: AnswerView }) {
  const say = words();
  return (
    <div class="note warn">
      <h3>{say.refusal}</h3>
      {answer.reason && <p dir="auto">{answer.reason}</p>}
      {answer.sparql !== null && <p class="small muted">{say.refusalBest}</p>}
    </div>
  );
}
