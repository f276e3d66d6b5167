// The triples that put a row into the result, read out, and the way to their drawing.

import { useEffect, useState } from "preact/hooks";
import { evidenceOf, type RowEvidence } from "../api/browse.ts";
import { problemFrom } from "../api/http.ts";
import type { Problem } from "../api/types.ts";
import { language } from "../i18n/index.ts";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import type { Origin } from "./result.ts";
import { visible } from "./texts.ts";
import { words } from "./words.ts";

interface Props {
  readonly row: number;
  readonly origin: Origin;
  /** The evidence where the answer brought it; else it is asked for. */
  readonly known: RowEvidence | null;
  readonly onDraw: (evidence: RowEvidence) => void;
}

export function Why({ row, origin, known, onDraw }: Props) {
  const [found, setFound] = useState(known);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    if (known || origin.query === null) return;
    const stop = new AbortController();
    const wanted = { query: origin.query, row, language: language.value };
    evidenceOf(origin.graph, wanted, { signal: stop.signal }).then(setFound, (error) => {
      if (!stop.signal.aborted) setProblem(problemFrom(error));
    });
    return () => stop.abort();
  }, [row, known, origin.graph, origin.query]);
  if (problem) return <ProblemNote problem={problem} />;
  if (!found) return <p class="muted small">{words().loading}</p>;
  if (found.triples.length === 0) return <p class="muted small">{words().noEvidence}</p>;
  return (
    <div class="why">
      <ul>
        {found.words.map((sentence) => (
          <li key={sentence}>
            <bdi>{visible(sentence)}</bdi>
          </li>
        ))}
      </ul>
      <button type="button" class="button small" onClick={() => onDraw(found)}>
        {words().asDrawing}
      </button>
    </div>
  );
}
