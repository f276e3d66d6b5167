// Terms of a graph in the order and the choice that a reader wants.

import type { ClassTerm, Hit, PredicateTerm } from "../api/browse.ts";
import type { Cell } from "../api/types.ts";
import { folded } from "../results/sorting.ts";

/** A class or a predicate in a list. */
export interface Listed {
  readonly iri: string;
  readonly label: string;
  readonly count: number;
  /** Some instances of a class. */
  readonly examples: readonly Cell[];
  /** A value of a predicate. */
  readonly example: string | null;
}

export type TermOrder = "name" | "count";

export function ofClass({ iri, label, instances, examples }: ClassTerm): Listed {
  return { iri, label, count: instances, examples, example: null };
}

export function ofPredicate({ iri, label, triples, example }: PredicateTerm): Listed {
  return { iri, label, count: triples, examples: [], example };
}

/** The terms whose name or IRI has the text, by name or the most frequent first. */
export function listed(
  terms: readonly Listed[],
  filter: string,
  order: TermOrder,
  locale: string,
): Listed[] {
  const wanted = folded(filter.trim());
  const found = terms.filter(({ label, iri }) => folded(`${label}\n${iri}`).includes(wanted));
  const names = new Intl.Collator(locale, { numeric: true, sensitivity: "base" });
  const byName = (one: Listed, other: Listed) => names.compare(one.label, other.label);
  const byCount = (one: Listed, other: Listed) => other.count - one.count;
  return found.sort((one, other) =>
    order === "name" ? byName(one, other) : byCount(one, other) || byName(one, other),
  );
}

/** Hits with the best first; of those that match alike, the shortest name, which says least else. */
export function ranked(hits: readonly Hit[]): Hit[] {
  return [...hits].sort(
    (one, other) => other.score - one.score || one.label.length - other.label.length,
  );
}
