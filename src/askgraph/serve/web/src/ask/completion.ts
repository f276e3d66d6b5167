// Completing names while a question is typed.

import type { Completion } from "../api/types.ts";

/** Whether the words before the cursor are worth asking the graph for. */
export function isCompletable(before: string): boolean {
  const last = /[\p{L}\p{N}][\p{L}\p{N}'’.-]*$/u.exec(before)?.[0] ?? "";
  return [...last].length >= 3 || /\p{N}/u.test(last);
}

/** The question with a completion in place of the words that it completes, and the new cursor. */
export function completed(
  text: string,
  cursor: number,
  completion: Completion,
): { readonly text: string; readonly cursor: number } {
  const start = Math.min(Math.max(completion.start, 0), cursor);
  const rest = text.slice(cursor);
  const gap = rest === "" || /^[^\s?.,;:!)]/.test(rest) ? " " : "";
  const head = text.slice(0, start) + completion.text;
  return { text: head + gap + rest, cursor: head.length + gap.length };
}

/** The completions of several graphs as one list, in turn, each name once. */
export function merged(found: readonly (readonly Completion[])[], limit: number): Completion[] {
  const all: Completion[] = [];
  const longest = Math.max(0, ...found.map((list) => list.length));
  for (let at = 0; at < longest; at += 1) {
    for (const list of found) {
      const one = list[at];
      if (one && !all.some((other) => other.iri === one.iri && other.text === one.text)) {
        all.push(one);
      }
    }
  }
  return all.slice(0, limit);
}
