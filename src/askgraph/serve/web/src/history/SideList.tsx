// The latest questions beside a conversation, where the window is wide enough.

import { useEffect } from "preact/hooks";
import { loadRecent, recent } from "./recent.ts";
import { words } from "./words.ts";

const SHOWN = 18;

/** `changed` is anything that changes when there may be new questions. */
export function SideList({ shown, changed }: { shown: string | null; changed: string }) {
  const say = words();
  useEffect(loadRecent, [changed]);
  if (recent.value.length === 0) return null;
  return (
    <nav class="side-list" aria-label={say.recent}>
      <h2>{say.recent}</h2>
      <ul>
        {recent.value.slice(0, SHOWN).map((run) => (
          <li key={run.id}>
            <a
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
