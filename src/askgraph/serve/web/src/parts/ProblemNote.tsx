// What went wrong, in words, and what to do.

import type { Problem } from "../api/types.ts";
import { texts } from "../i18n/index.ts";

const words = texts(
  {
    unreachable: "The server cannot be reached",
    unreachableMore: "Is it still running, and are you online? Nothing was lost: try again.",
    refused: "This is not allowed",
    again: "Try again",
  },
  {
    unreachable: "Der Server ist nicht erreichbar",
    unreachableMore:
      "Läuft er noch, und besteht eine Verbindung? Nichts ging verloren: versuchen Sie es noch einmal.",
    refused: "Das ist nicht erlaubt",
    again: "Noch einmal versuchen",
  },
);

interface ProblemNoteProps {
  readonly problem: Problem;
  /** Tries again; without it no button is shown. */
  readonly again?: () => void;
}

export function ProblemNote({ problem, again }: ProblemNoteProps) {
  const say = words();
  const unreachable = problem.status === 0 && problem.title === "";
  const title = unreachable ? say.unreachable : problem.title || say.refused;
  const detail = unreachable ? say.unreachableMore : problem.detail;
  return (
    <div class="note bad" role="alert">
      <h3>{title}</h3>
      {detail && detail !== title && <p class="problem-detail">{detail}</p>}
      {again && (
        <button type="button" class="button small" onClick={again}>
          {say.again}
        </button>
      )}
    </div>
  );
}
