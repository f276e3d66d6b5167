// Whether the methods agree, said once for all of them.

import { cancel } from "../api/ask.ts";
import type { Turn } from "../ask/conversation.ts";
import { groups } from "./agreement.ts";
import { words } from "./words.ts";

export function Summary({ turns }: { turns: readonly Turn[] }) {
  const say = words();
  const running = turns.filter((turn) => turn.isRunning);
  const stopAll = () => {
    for (const { id } of running) if (id.value) void cancel(id.value).catch(() => undefined);
  };
  return (
    <div class="summary row">
      <p role="status">{running.length > 0 ? progress(turns) : verdict(turns)}</p>
      {running.length > 0 && (
        <button type="button" class="button small" onClick={stopAll}>
          {say.stopAll}
        </button>
      )}
    </div>
  );
}

function progress(turns: readonly Turn[]): string {
  return words().running(turns.filter((turn) => !turn.isRunning).length, turns.length);
}

function verdict(turns: readonly Turn[]): string {
  const say = words();
  const found = groups(turns.flatMap((turn) => turn.run.value ?? [])).filter(
    (group) => group.answered,
  );
  const largest = found[0]?.runs.length ?? 0;
  const answered = found.reduce((sum, group) => sum + group.runs.length, 0);
  if (answered === 0) return say.noneAnswers;
  if (answered === 1) return say.oneAnswers;
  if (largest === turns.length) return say.allAgree(largest);
  return largest > 1 ? say.someAgree(largest, turns.length) : say.noneAgree;
}
