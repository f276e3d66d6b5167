// Queries in words, each loaded once.

import { parts } from "../api/graphs.ts";
import type { RunView, Step } from "../api/types.ts";
import { language } from "../i18n/index.ts";

/** Returns a query in words; "" if that fails. */
export type Reader = (query: string) => Promise<string>;

const known = new Map<string, Promise<string>>();
const MOST = 200;

/** Reads queries of a run's graph, in the language of its question. */
export function readerOf(graph: string, run: RunView): Reader {
  return (query) => {
    const told = spokenBy(run);
    const key = JSON.stringify([graph, told, query]);
    const asked = { query, language: told, question: run.question, alternatives: false };
    const found =
      known.get(key) ??
      parts(graph, asked).then(({ pieces }) => pieces.map((piece) => piece.text).join(""));
    if (known.size >= MOST) known.clear();
    known.set(key, found);
    return found.catch(() => {
      known.delete(key); // retry when it is shown again
      return ""; // the result is shown even without the words
    });
  };
}

/** Returns the language for words about a run: that of its question, if it is known. */
export function spokenBy(run: RunView): string {
  return run.language ?? language.value;
}

/** A query that was considered. */
export type Draft = Extract<Step, { step: "draft" }>;
