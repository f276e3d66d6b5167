// That a question is not answered, why, and where to go on.

import type { AnswerView, RunView } from "../api/types.ts";
import { WaysOn } from "./WaysOn.tsx";
import { words } from "./words.ts";

export function Refusal({ answer, run }: { answer: AnswerView; run: RunView }) {
  const say = words();
  return (
    <div class="note warn stack">
      <h3>{say.refusal}</h3>
      {answer.reason && <p dir="auto">{answer.reason}</p>}
      {answer.sparql !== null && <p class="small muted">{say.refusalBest}</p>}
      <WaysOn question={run.question} graphs={run.graphs} />
    </div>
  );
}
