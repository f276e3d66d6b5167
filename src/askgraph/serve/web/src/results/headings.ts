// What stands above a column: the graph's name for what its variable stands for.

import { shortName, visible } from "./texts.ts";
import { words } from "./words.ts";

const COUNTED = "number of ";

/** The heading of a variable; `labels` (by IRI) are those of the query's terms, then of its rows. */
export function headingOf(name: string, labels: Readonly<Record<string, string>> = {}): string {
  const plain = wordsOf(name);
  const isCount = plain.startsWith(COUNTED) && plain.length > COUNTED.length;
  const named = isCount ? plain.slice(COUNTED.length) : plain;
  const iri = Object.keys(labels).find((one) => wordsOf(shortName(one)) === named);
  const label = (iri && labels[iri]) || named;
  return visible(isCount ? words().numberOf(label) : label);
}

/** A variable's name in words: `dwarfPlanet` and `dwarf_planet` are “dwarf planet”. */
export function wordsOf(name: string): string {
  const words = name.replace(/[_-]+/g, " ").replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2");
  return /\p{Lu}{2}/u.test(words) ? words : words.toLowerCase();
}
