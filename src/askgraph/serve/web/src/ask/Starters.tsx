// Questions to start with, of the chosen graphs, and what was asked before.

import { useEffect, useState } from "preact/hooks";
import { runs } from "../api/ask.ts";
import { starters } from "../api/graphs.ts";
import type { RunSummary } from "../api/types.ts";
import { language } from "../i18n/index.ts";
import { words } from "./words.ts";

export interface StartersProps {
  readonly graphs: readonly string[];
  readonly ask: (question: string) => void;
}

const SHOWN = 6;

export function Starters({ graphs, ask }: StartersProps) {
  const say = words();
  const questions = useStarters(graphs);
  const recent = useRecent();
  return (
    <div class="starters">
      {questions.length > 0 && (
        <section aria-label={say.try}>
          <h2>{say.try}</h2>
          <ul>
            {questions.map((question) => (
              <li key={question}>
                <button type="button" class="starter" onClick={() => ask(question)}>
                  <bdi>{question}</bdi>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {recent.length > 0 && (
        <section aria-label={say.recent}>
          <h2>{say.recent}</h2>
          <ul>
            {recent.map((run) => (
              <li key={run.id}>
                <a class="starter recent" href={`/run/${run.id}`}>
                  <bdi>{run.question}</bdi>
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function useStarters(graphs: readonly string[]): readonly string[] {
  const [found, setFound] = useState<readonly string[]>([]);
  useEffect(() => {
    const leaving = new AbortController();
    const options = { signal: leaving.signal };
    const each = Math.ceil(SHOWN / Math.max(1, graphs.length));
    Promise.all(graphs.map((graph) => starters(graph, language.value, options))).then(
      (lists) => setFound(lists.flatMap((list) => list.questions.slice(0, each))),
      () => setFound([]), // the box works without them
    );
    return () => leaving.abort();
  }, [graphs.join("\n"), language.value]);
  return found;
}

function useRecent(): readonly RunSummary[] {
  const [found, setFound] = useState<readonly RunSummary[]>([]);
  useEffect(() => {
    let shown = true;
    runs({ limit: 20 }).then(
      (list) => shown && setFound(firstOfEach(list.runs).slice(0, 5)),
      () => undefined, // the box works without them
    );
    return () => {
      shown = false;
    };
  }, []);
  return found;
}

function firstOfEach(found: readonly RunSummary[]): RunSummary[] {
  const seen = new Set<string>();
  return found.filter((run) => {
    const isNew = !seen.has(run.question);
    seen.add(run.question);
    return isNew;
  });
}
