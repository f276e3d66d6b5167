// That a question is being worked on: what happens, for how long, and how to stop it.

import { useEffect, useState } from "preact/hooks";
import { formatSeconds } from "../i18n/index.ts";
import { Icon } from "../parts/Icon.tsx";
import type { Turn } from "./conversation.ts";
import { stepTitle } from "./stepWords.ts";
import { words } from "./words.ts";

/** Below it nothing is shown, so that quick answers do not flicker. */
const SHOWN_AFTER = 250;

export function Progress({ turn, stop }: { turn: Turn; stop: () => void }) {
  const say = words();
  const [elapsed, setElapsed] = useState(() => performance.now() - turn.begun);
  useEffect(() => {
    const timer = setInterval(() => setElapsed(performance.now() - turn.begun), 100);
    return () => clearInterval(timer);
  }, [turn]);
  const last = turn.steps.value.at(-1);
  const doing =
    turn.state.value === "queued"
      ? say.queued(turn.ahead.value)
      : last
        ? stepTitle(last)
        : say.asking;
  return (
    <div class="progress" data-shown={elapsed > SHOWN_AFTER}>
      <span class="spinner" aria-hidden="true" />
      <span class="progress-doing" role="status">
        <bdi>{doing}</bdi>
      </span>
      <span class="muted number" aria-hidden="true">
        {formatSeconds(elapsed / 1000)}
      </span>
      <button type="button" class="button small" onClick={stop}>
        <Icon name="stop" />
        {say.stop}
      </button>
    </div>
  );
}
