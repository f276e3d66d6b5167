// The latest questions beside a conversation, if the window is wide enough.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { runs } from "../api/ask.ts";
import type { RunSummary } from "../api/types.ts";
import { say } from "./words.ts";

const [SHOWN, LATEST, DELAY] = [18, 40, 250]; // questions, runs, milliseconds

/** `changed` is anything that changes when there may be new questions. */
export function SideList({ shown, changed }: { shown: string | null; changed: string }) {
  useEffect(() => {
    // Not beside a question that is being answered, which would have to wait.
    const timer = setTimeout(loadRecent, DELAY);
    return () => clearTimeout(timer);
  }, [changed]);
  if (recent.value.length === 0) return null;
  return (
    <nav class="side-list" aria-label={say.recent}>
      <h2 class="list-title faint">{say.recent}</h2>
      <ul>
        {recent.value.slice(0, SHOWN).map((run) => (
          <li key={run.id}>
            <a
              class="pick clip"
              href={`/run/${run.id}`}
              title={run.question}
              aria-current={run.id === shown ? "page" : undefined}
            >
              <bdi>{run.question}</bdi>
            </a>
          </li>
        ))}
      </ul>
      <p>
        <a href="/history">{say.all}</a>
      </p>
    </nav>
  );
}

// The caller's latest questions, for the lists beside and below the question box.

/** The latest questions, each once, the latest first; empty until they are known. */
export const recent = signal<readonly RunSummary[]>([]);

/** Loads the latest questions. On failure the lists stay unchanged: they are optional. */
export function loadRecent(): void {
  runs({ limit: LATEST }).then(
    (found) => {
      recent.value = firstOfEach(found.runs);
    },
    () => undefined,
  );
}

/** Each question once: its latest run. */
export function firstOfEach(found: readonly RunSummary[]): RunSummary[] {
  const seen = new Set<string>();
  return found.filter(({ question }) => !seen.has(question) && seen.add(question));
}
