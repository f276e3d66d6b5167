// The readings of an ambiguous question, as cards to choose from.

import { useState } from "preact/hooks";
import { choose } from "../api/ask.ts";
import { problemFrom } from "../api/http.ts";
import type { AnswerView, Problem, RunView } from "../api/types.ts";
import { navigate } from "../app/router.ts";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import { chosenReading, type Turn } from "./conversation.ts";
import { WaysOn } from "./WaysOn.tsx";
import { words } from "./words.ts";

export interface OptionsProps {
  readonly turn: Turn;
  readonly run: RunView;
  readonly answer: AnswerView;
  /** Whether none of the readings is meant. */
  readonly isNone: boolean;
  readonly none: () => void;
}

export function Options({ turn, run, answer, isNone, none }: OptionsProps) {
  const say = words();
  const [busy, setBusy] = useState<number | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const take = async (option: number) => {
    setBusy(option);
    setProblem(null);
    try {
      const answered = await choose(run.id, option);
      chosenReading(turn, answered);
      navigate(`/run/${answered.id}`, { replace: answered.id === run.id, stay: true });
    } catch (error) {
      setProblem(problemFrom(error));
      setBusy(null);
    }
  };
  return (
    <section class="options" aria-label={say.clarification}>
      <h3 class="options-title" dir="auto">
        {answer.clarification || say.clarification}
      </h3>
      <ul>
        {answer.options.map((option, at) => (
          <li key={option.query}>
            <button
              type="button"
              class="option"
              disabled={busy !== null}
              onClick={() => void take(at)}
            >
              <bdi class="option-words">{option.words}</bdi>
              <span class="option-count">
                {busy === at ? <span class="spinner" /> : say.rows(option.count)}
              </span>
            </button>
          </li>
        ))}
      </ul>
      {isNone ? (
        <div class="note stack" role="status">
          <p>{answer.sparql === null ? say.noneOnly : say.noneMore}</p>
          <WaysOn question={run.question} graphs={run.graphs} />
        </div>
      ) : (
        <button type="button" class="button quiet small" onClick={none}>
          {say.noneOfThese}
        </button>
      )}
      {problem && <ProblemNote problem={problem} />}
    </section>
  );
}
