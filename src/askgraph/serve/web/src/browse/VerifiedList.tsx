// What questions of a graph are answered with at once, to withdraw by who may.

import { useEffect, useState } from "preact/hooks";
import { problemFrom } from "../api/http.ts";
import type { Problem } from "../api/types.ts";
import { type Verified, verifiedOf, withdrawVerified } from "../api/verified.ts";
import { knownMe, may } from "../app/known.ts";
import { mayWithdraw } from "../app/withdrawing.ts";
import { formatTime } from "../i18n/index.ts";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import { useFetched } from "./useFetched.ts";
import { words } from "./words.ts";

/** Nothing for who may confirm nothing, and where nothing was confirmed. */
export function VerifiedList({ graph }: { graph: string }) {
  useEffect(() => knownMe.need(), []);
  if (!knownMe.value.value || !may("confirm")) return null;
  return <List graph={graph} />;
}

function List({ graph }: { graph: string }) {
  const say = words();
  const [problem, setProblem] = useState<Problem | null>(null);
  const { value, again } = useFetched(graph, (signal) => verifiedOf(graph, { signal }));
  const withdraw = async (one: Verified) => {
    setProblem(null);
    try {
      await withdrawVerified(graph, one.id);
      again();
    } catch (error) {
      setProblem(problemFrom(error));
    }
  };
  if (!value || (value.verified.length === 0 && !problem)) return null;
  return (
    <section class="verified">
      <h2 class="section-title">{say.verified}</h2>
      <p class="muted small">{say.verifiedMore}</p>
      <ul class="verified-list">
        {value.verified.map((one) => (
          <li key={one.id} class="row spread">
            <span>
              {one.mine && one.run ? (
                <a href={`/run/${one.run}`}>
                  <bdi>{one.question}</bdi>
                </a>
              ) : (
                <bdi>{one.question}</bdi>
              )}{" "}
              <span class="muted small">
                {[formatTime(one.when), one.mine ? "" : one.by].filter(Boolean).join(" · ")}
              </span>
            </span>
            {mayWithdraw(one) && (
              <button
                type="button"
                class="button quiet small"
                aria-label={say.withdrawOne(one.question)}
                onClick={() => void withdraw(one)}
              >
                {say.withdraw}
              </button>
            )}
          </li>
        ))}
      </ul>
      {problem && <ProblemNote problem={problem} />}
    </section>
  );
}
