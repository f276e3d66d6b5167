// The words of the question that no part of the query stands for, in any graph that was asked.

import type { Step } from "../api/types.ts";
import { words } from "./words.ts";

export function Unused({ steps }: { steps: readonly Step[] }) {
  const found = steps.filter((step) => step.step === "findings");
  const unused = (found[0]?.unused_words ?? []).filter((word) =>
    found.every((step) => step.unused_words.includes(word)),
  );
  if (unused.length === 0) return null;
  return (
    <p class="muted small unused">
      {words().unused}: <bdi>{[...new Set(unused)].join(", ")}</bdi>
    </p>
  );
}
