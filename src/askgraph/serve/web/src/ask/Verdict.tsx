// Whether an answer is right: confirm it, say what is wrong, share it.

import { useEffect, useState } from "preact/hooks";
import { confirm, feedback, share, withdraw } from "../api/ask.ts";
import { type Verified, verifiedOf, withdrawVerified } from "../api/graphs.ts";
import { problemFrom } from "../api/http.ts";
import type { Confirmed, Problem, RunView } from "../api/types.ts";
import { may, mayWithdraw } from "../app/known.ts";
import { CopyButton } from "../parts/CopyButton.tsx";
import { Icon } from "../parts/Icon.tsx";
import { Popover } from "../parts/Popover.tsx";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import type { Turn } from "./conversation.ts";
import { words } from "./words.ts";

interface VerdictProps {
  readonly turn: Turn;
  readonly run: RunView;
  /** The query that is shown where it is not the run's own. */
  readonly query: string | null;
  readonly standing: Standing;
}

export function Verdict({ turn, run, query, standing }: VerdictProps) {
  const say = words();
  const [problem, setProblem] = useState<Problem | null>(null);
  const attempt = async (doing: Promise<RunView | null>) => {
    setProblem(null);
    try {
      const told = await doing;
      if (told) turn.run.value = told;
    } catch (error) {
      setProblem(problemFrom(error));
    }
  };
  const right = async () => {
    await feedback(run.id, "right", "");
    return confirm(run.id, query);
  };
  const wrong = async (comment: string) => {
    const told = await feedback(run.id, "wrong", comment);
    return { ...run, feedback: told };
  };
  if (!run.mine) return null;
  return (
    <div class="verdict">
      <div class="row">
        {run.verified ? (
          <Marked undo={() => void attempt(withdraw(run.id))} />
        ) : (
          <>
            <span class="muted small">{say.isRight}</span>
            {may("confirm") && (
              <button
                type="button"
                class="button small"
                title={say.confirmHint}
                onClick={() => void attempt(right())}
              >
                <Icon name="check" />
                {say.right}
              </button>
            )}
            <Wrong
              send={(comment) => attempt(wrong(comment))}
              withdraw={query === null ? standing.withdraw : null}
            />
          </>
        )}
        <Share run={run} setShared={(shared) => void attempt(share(run.id, shared))} />
        {run.feedback?.verdict === "wrong" && !run.verified && (
          <span class="chip warn" role="status">
            {say.thanks}
          </span>
        )}
      </div>
      {problem && <ProblemNote problem={problem} />}
    </div>
  );
}

function Marked({ undo }: { undo: () => void }) {
  const say = words();
  return (
    <>
      <span class="chip good" role="status">
        <Icon name="check" size={14} />
        {say.confirmed}
      </span>
      <button type="button" class="button quiet small" onClick={undo}>
        {say.withdraw}
      </button>
    </>
  );
}

interface WrongProps {
  readonly send: (comment: string) => Promise<void>;
  /** Withdraws the confirmed answer that is wrong, where the caller may. */
  readonly withdraw: (() => Promise<void>) | null;
}

function Wrong({ send, withdraw }: WrongProps) {
  const say = words();
  const [withdraws, setWithdraws] = useState(true);
  const [comment, setComment] = useState("");
  return (
    <Popover
      class="button small"
      label={
        <>
          <Icon name="cross" />
          {say.wrong}
        </>
      }
    >
      {(close) => (
        <form
          class="stack verdict-form"
          onSubmit={(event) => {
            event.preventDefault();
            void send(comment.trim())
              .then(withdraws && withdraw ? withdraw : undefined)
              .then(close);
          }}
        >
          <label>
            <span class="label">{say.wrongTitle}</span>
            <textarea
              class="field"
              data-first
              rows={3}
              maxLength={4000}
              placeholder={say.wrongPlaceholder}
              value={comment}
              onInput={(event) => setComment(event.currentTarget.value)}
            />
          </label>
          {withdraw && (
            <label class="choice">
              <input
                type="checkbox"
                checked={withdraws}
                onChange={(event) => setWithdraws(event.currentTarget.checked)}
              />
              <span>{say.withdrawToo}</span>
            </label>
          )}
          <button type="submit" class="button primary">
            {say.send}
          </button>
        </form>
      )}
    </Popover>
  );
}

function Share({ run, setShared }: { run: RunView; setShared: (shared: boolean) => void }) {
  const say = words();
  const address = `${location.origin}/run/${run.id}`;
  return (
    <Popover
      class="button quiet small"
      label={
        <>
          <Icon name="link" />
          {say.share}
        </>
      }
    >
      {() => (
        <div class="stack share">
          <label>
            <span class="label">{say.shareTitle}</span>
            <input class="field" readOnly data-first value={address} onFocus={selectAll} />
          </label>
          <label class="choice">
            <input
              type="checkbox"
              checked={run.shared}
              onChange={(event) => setShared(event.currentTarget.checked)}
            />
            <span>
              <span class="choice-name">{say.shareOn}</span>
              <span class="choice-more">{run.shared ? say.shareMore : say.shareNot}</span>
            </span>
          </label>
          <CopyButton text={address} />
        </div>
      )}
    </Popover>
  );
}

function selectAll(event: Event): void {
  if (event.currentTarget instanceof HTMLInputElement) event.currentTarget.select();
}

// The verified answer that a question was answered with, where the caller may withdraw it.

export interface Standing {
  /** Whether it stands no longer. */
  readonly isGone: boolean;
  /** Withdraws it; null where the caller may not, or it is none. */
  readonly withdraw: (() => Promise<void>) | null;
  readonly problem: Problem | null;
}

export function useStanding(graph: string, confirmed: Confirmed | null): Standing {
  const [one, setOne] = useState<Verified | null>(null);
  const [isGone, setGone] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const isAllowed = may("confirm");
  useEffect(() => {
    if (!confirmed || !isAllowed) return;
    let shown = true;
    verifiedOf(graph).then(
      ({ verified }) => shown && setOne(verified.find((it) => isSame(it, confirmed)) ?? null),
      () => undefined, // the answer is then shown, and withdrawn on the graph's own page
    );
    return () => {
      shown = false;
    };
  }, [graph, confirmed?.when, isAllowed]);
  const withdraw = async () => {
    if (!one) return;
    setProblem(null);
    try {
      await withdrawVerified(graph, one.id);
      setGone(true);
    } catch (error) {
      setProblem(problemFrom(error));
    }
  };
  return { isGone, problem, withdraw: one && !isGone && mayWithdraw(one) ? withdraw : null };
}

function isSame(one: Verified, confirmed: Confirmed): boolean {
  return one.when === confirmed.when && one.question === confirmed.question;
}
