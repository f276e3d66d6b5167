// Terms of a graph in the order and the choice that a reader wants.

import type { Term } from "../api/browse.ts";
import { folded } from "../results/sorting.ts";

export type TermOrder = "name" | "count";

/** The terms whose name or IRI has the text, by name or the most frequent first. */
export function listed(
  terms: readonly Term[],
  filter: string,
  order: TermOrder,
  locale: string,
): Term[] {
  const wanted = folded(filter.trim());
  const found = terms.filter(({ label, iri }) => folded(`${label}\n${iri}`).includes(wanted));
  const names = new Intl.Collator(locale, { numeric: true, sensitivity: "base" });
  const byName = (one: Term, other: Term) => names.compare(one.label, other.label);
  const byCount = (one: Term, other: Term) => (other.count ?? 0) - (one.count ?? 0);
  return found.sort((one, other) =>
    order === "name" ? byName(one, other) : byCount(one, other) || byName(one, other),
  );
}
