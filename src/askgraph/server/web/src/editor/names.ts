// Completing a query: names of the graph by their labels, its variables, the words of SPARQL.

import type { Completion } from "@codemirror/autocomplete";
import type { TermView, VocabularyView } from "../api/types.ts";
import { FUNCTIONS, KEYWORDS } from "./sparql.ts";

/** An IRI as a prefixed name, by the longest namespace; else in angle brackets. */
export function compact(iri: string, prefixes: Readonly<Record<string, string>>): string {
  let best = "";
  let name = `<${iri}>`;
  for (const [prefix, namespace] of Object.entries(prefixes)) {
    const rest = iri.slice(namespace.length);
    if (namespace.length > best.length && iri.startsWith(namespace) && isLocal(rest)) {
      best = namespace;
      name = `${prefix}:${rest}`;
    }
  }
  return name;
}

/** Completes the words before the cursor; `typed` as in `ont:Pl`, `moon` or `?pl`. */
export function options(
  typed: string,
  query: string,
  vocabulary: VocabularyView | null,
): readonly Completion[] {
  if (/^[?$]/.test(typed)) return variables(query, typed);
  const names = vocabulary ? named(typed.toLowerCase(), vocabulary) : [];
  if (typed.includes(":")) return names;
  const lower = typed.toLowerCase();
  const words = [
    ...KEYWORDS.map((word) => wordOption(word, "keyword")),
    ...FUNCTIONS.map((word) => wordOption(word, "function")),
  ].filter((option) => option.label.toLowerCase().startsWith(lower));
  return [...names, ...words];
}

function named(typed: string, vocabulary: VocabularyView): Completion[] {
  const term = (type: "class" | "property") => (one: TermView) => ({
    label: compact(one.iri, vocabulary.prefixes),
    detail: one.label,
    type,
    boost: Math.min(20, Math.log2(1 + one.count)),
  });
  return [
    ...vocabulary.classes.map(term("class")),
    ...vocabulary.predicates.map(term("property")),
  ].filter(
    (option) =>
      option.label.toLowerCase().includes(typed) || option.detail.toLowerCase().includes(typed),
  );
}

function variables(query: string, typed: string): Completion[] {
  const all = new Set(query.match(/[?$][\p{L}\p{N}_]+/gu) ?? []);
  all.delete(typed);
  return [...all].map((label) => ({ label, type: "variable", boost: 30 }));
}

function wordOption(word: string, type: "keyword" | "function"): Completion {
  return { label: word.toUpperCase(), type, boost: -20 };
}

function isLocal(rest: string): boolean {
  return /^[\p{L}\p{N}_](?:[\p{L}\p{N}_.-]*[\p{L}\p{N}_-])?$/u.test(rest);
}
