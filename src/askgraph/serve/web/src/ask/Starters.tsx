// Questions to start with, of the chosen graphs, and what was asked before.

import { useEffect, useState } from "preact/hooks";
import { starters } from "../api/graphs.ts";
import { loadRecent, recent } from "../history/recent.ts";
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
  useEffect(loadRecent, []);
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
      {recent.value.length > 0 && (
        <section aria-label={say.recent}>
          <h2>{say.recent}</h2>
          <ul>
            {recent.value.slice(0, 5).map((run) => (
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
