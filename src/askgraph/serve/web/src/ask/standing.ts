// The verified answer that a question was answered with, where the caller may withdraw it.

import { useEffect, useState } from "preact/hooks";
import { problemFrom } from "../api/http.ts";
import type { Confirmed, Problem } from "../api/types.ts";
import { type Verified, verifiedOf, withdrawVerified } from "../api/verified.ts";
import { may } from "../app/known.ts";
import { mayWithdraw } from "../app/withdrawing.ts";

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
