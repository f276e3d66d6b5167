// The readings of an ambiguous question, as cards to choose from.

import { useState } from "preact/hooks";
import { choose } from "../api/ask.ts";
import type { AnswerView, RunView } from "../api/types.ts";
import { graphTitle } from "../app/known.ts";
import { askAddress, graphAddress, navigate } from "../app/router.ts";
import { useAttempt } from "../parts/asking.ts";
import { Button, Note, ProblemNote, QuietButton } from "../parts/parts.tsx";
import { chooseReading, put, type Turn } from "./conversation.ts";
import { say } from "./words.ts";

interface OptionsProps {
  readonly turn: Turn;
  readonly run: RunView;
  readonly answer: AnswerView;
  readonly isNone: boolean;
  readonly none: () => void;
}

export function Options({ turn, run, answer, isNone, none }: OptionsProps) {
  const [busy, setBusy] = useState<number | null>(null);
  const [attempt, problem] = useAttempt();
  // Questions to start with rather than readings of one.
  const isGreeting = answer.options.every(({ words }) => words.endsWith("?"));
  const take = async (option: number) => {
    setBusy(option);
    const isTaken = await attempt(async () => {
      const answered = await choose(run.id, option);
      chooseReading(turn, answered);
      navigate(`/run/${answered.id}`, { replace: answered.id === run.id, stay: true });
    });
    if (!isTaken) setBusy(null);
  };
  return (
    <div class="options stack near" role="group" aria-label={say.clarification}>
      <p class="large note-title" dir="auto">
        {answer.clarification || say.clarification}
      </p>
      <Instead {...{ answer, run }} />
      <ul class="stack close">
        {answer.options.map((option, at) => (
          <li key={option.query}>
            <button
              type="button"
              class="option sheet row nowrap"
              disabled={busy !== null}
              onClick={() => void take(at)}
            >
              <bdi class="option-words serif large grow">{option.words}</bdi>
              <span class="option-count muted small number">
                {busy === at ? <span class="spinner" /> : !isGreeting && say.rows(option.count)}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {isNone ? (
        <div class="note stack" role="status">
          <p>{say.noneOnly}</p>
          <WaysOn {...run} />
        </div>
      ) : (
        !isGreeting && <QuietButton onClick={none} text={say.noneOfThese} />
      )}
      <ProblemNote problem={problem} />
    </div>
  );
}

/** Names of the graph for words that it does not know, and other graphs that know them. */
export function Instead({ answer, run }: { answer: AnswerView; run: RunView }) {
  const { method, model } = run;
  const ask = (question: string, graphs = run.graphs) =>
    put({ question, graphs, method, ...(model ? { model } : {}) });
  return (
    <>
      {answer.missing
        .filter(({ names }) => names.length > 0)
        .map(({ words, names }) => (
          <section key={words} class="row small" aria-label={say.insteadOf(words)}>
            <bdi>{say.insteadOf(words)}:</bdi>
            {names.map((name) => (
              <Button
                key={name}
                onClick={() => ask(run.question.replace(words, () => name))}
                text={name}
              />
            ))}
          </section>
        ))}
      {answer.other_graphs.map((name) => (
        <p key={name}>
          <Button onClick={() => ask(run.question, [name])} text={say.askGraph(graphTitle(name))} />
        </p>
      ))}
    </>
  );
}

// Next steps after a question without an answer: rephrase, browse the graph, ask anew.

/** `question` is "" if it is not known. */
export function WaysOn({ question, graphs }: Pick<RunView, "question" | "graphs">) {
  const [graph] = graphs;
  return (
    <p class="row ways-on">
      <a class="button small" href={question ? askAddress(question, graphs) : "/"}>
        {question ? say.otherWords : say.askQuestion}
      </a>
      <a class="button small" href={graph ? graphAddress(graph) : "/graphs"}>
        {graph ? say.whatItHolds : say.seeGraphs}
      </a>
    </p>
  );
}

// A refusal: the reason, and the next steps.

export function Refusal({ answer, run }: { answer: AnswerView; run: RunView }) {
  return (
    <Note look="warn stack" title={say.refusal} text={answer.reason}>
      <Instead {...{ answer, run }} />
      <WaysOn {...run} />
    </Note>
  );
}
