// An answer: first what it says, then how it was read and how sure it is, then all the rest.

import { useState } from "preact/hooks";
import { runQuery } from "../api/graphs.ts";
import { problemFrom } from "../api/http.ts";
import type { AnswerView, Finding, Problem, RunView } from "../api/types.ts";
import { may } from "../app/known.ts";
import { Later } from "../app/Later.tsx";
import { looked } from "../editor/looking.ts";
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
import { Refusal } from "./Refusal.tsx";
import { readerOf, spokenBy } from "./reading.ts";
import { StepsOf } from "./StepsOf.tsx";
import { useStanding } from "./standing.ts";
import { Unused } from "./Unused.tsx";
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
  const [findings, setFindings] = useState<readonly Finding[]>([]);
  const [isNone, setNone] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const answer = changed ?? first;
  const graph = first.graph ?? run.graphs[0] ?? "";
  const standing = useStanding(graph, first.confirmed);
  const read = readerOf(graph, run);
  const spoken = answer.status === "clarification" ? say.clarification : spokenHeadline(answer);

  const runChanged = async (query: string, words: string, told = spokenBy(run)) => {
    setBusy(true);
    setProblem(null);
    try {
      const found = await runQuery(graph, query, told);
      const [said, odd] = await Promise.all([words || read(query), looked(graph, query)]);
      setFindings(odd?.findings ?? []);
      setChanged(edited(first, query, found, said));
    } catch (error) {
      setProblem(problemFrom(error));
    } finally {
      setBusy(false);
    }
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
          {answer.status !== "answer" && <h3 class="best-effort">{say.bestEffort}</h3>}
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
          {changed === null && <Unused steps={turn.steps.value} />}
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
            run={(query) => void runChanged(query, "")}
          />
        )}
        <Drafts
          turn={turn}
          shown={answer.sparql}
          open={(query, read) => void runChanged(query, read)}
          read={read}
        />
        <StepsOf turn={turn} run={run} read={read} />
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

/** That a changed query failed; the answer before it is not what it gives. */
function Faulty({ problem, back }: { problem: Problem; back: () => void }) {
  const say = words();
  return (
    <section class="faulty stack" aria-label={say.faulty}>
      <p class="headline nothing">{say.faulty}</p>
      <ProblemNote problem={problem} />
      <p>
        <button type="button" class="button small" onClick={back}>
          {say.backToAnswer}
        </button>
      </p>
    </section>
  );
}
