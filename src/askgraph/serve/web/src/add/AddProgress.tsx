// How far the adding of a graph is, and where to go when it is there.

import { navigate } from "../app/router.ts";
import { chooseGraphs } from "../ask/choices.ts";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import { type Adding, cancel, restart } from "./adding.ts";
import { words } from "./words.ts";

export function AddProgress({ now }: { now: Adding }) {
  const say = words();
  switch (now.state) {
    case "sending":
      return <Bar name={now.name} doing={say.sending} share={now.share} />;
    case "working": {
      const { state, progress } = now.job;
      const stage = progress.stage ? say.stages(progress.stage) : "";
      const doing = state === "queued" ? say.queued : stage || say.running;
      return (
        <Bar
          name={now.name}
          {...{ doing }}
          share={progress.share ?? null}
          more={progress.words ?? ""}
        />
      );
    }
    case "done":
      return <Done name={now.name} />;
    case "cancelled":
      return (
        <p class="note" role="status">
          {say.cancelled}
        </p>
      );
    case "failed": {
      const title = now.problem.title || (now.problem.status === 0 ? "" : say.failed);
      return <ProblemNote problem={{ ...now.problem, title }} />;
    }
  }
}

interface BarProps {
  readonly name: string;
  readonly doing: string;
  /** Between 0 and 1; null where nobody knows. */
  readonly share: number | null;
  readonly more?: string;
}

function Bar({ name, doing, share, more = "" }: BarProps) {
  const say = words();
  return (
    <div class="card adding">
      <h2>
        <bdi>{name}</bdi>
      </h2>
      <progress
        aria-label={doing}
        max={1}
        {...(share === null ? {} : { value: Math.min(1, Math.max(0, share)) })}
      />
      <div class="row spread">
        <p role="status">
          {doing}
          {share !== null && <span class="muted number"> {say.percent(share)}</span>}
          {more && <bdi class="muted small adding-more">{more}</bdi>}
        </p>
        <button type="button" class="button small" onClick={() => void cancel()}>
          {say.cancel}
        </button>
      </div>
    </div>
  );
}

function Done({ name }: { name: string }) {
  const say = words();
  return (
    <div class="card adding" role="status">
      <h2>
        <bdi>{say.done(name)}</bdi>
      </h2>
      <div class="row">
        <button
          type="button"
          class="button primary"
          onClick={() => {
            chooseGraphs([name]);
            restart();
            navigate("/");
          }}
        >
          {say.ask}
        </button>
        <a class="button" href={`/graphs/${encodeURIComponent(name)}`} onClick={restart}>
          {say.browse}
        </a>
        <button type="button" class="button quiet" onClick={restart}>
          {say.another}
        </button>
      </div>
    </div>
  );
}
