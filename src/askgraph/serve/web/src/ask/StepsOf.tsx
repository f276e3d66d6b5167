// The steps of a run that is over: as they came, or fetched when they are opened.

import { useState } from "preact/hooks";
import { stepsOf } from "../api/ask.ts";
import { problemFrom } from "../api/http.ts";
import type { Problem, RunView } from "../api/types.ts";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import type { Turn } from "./conversation.ts";
import type { Reader } from "./reading.ts";
import { Steps } from "./Steps.tsx";
import { words } from "./words.ts";

export interface StepsOfProps {
  readonly turn: Turn;
  readonly run: RunView;
  readonly read: Reader;
}

export function StepsOf({ turn, run, read }: StepsOfProps) {
  const say = words();
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isLoading, setLoading] = useState(false);
  const steps = turn.steps.value;
  if (steps.length > 0) {
    return (
      <Steps
        steps={steps}
        isRunning={false}
        seconds={run.seconds}
        usage={run.answer?.usage ?? null}
        read={read}
      />
    );
  }
  const load = async () => {
    if (isLoading) return;
    setLoading(true);
    try {
      turn.steps.value = await stepsOf(run.id);
    } catch (error) {
      setProblem(problemFrom(error));
    }
  };
  return (
    <details class="fold steps" onToggle={() => void load()}>
      <summary>
        <span>{say.stepsOf}</span>
      </summary>
      {problem ? <ProblemNote problem={problem} /> : <p class="muted">{say.loadSteps}</p>}
    </details>
  );
}
