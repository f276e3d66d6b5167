// Where a finding is in the text of an editor.

import type { Text } from "@codemirror/state";
import type { Finding } from "../api/types.ts";

/** Whether a finding is about a place in the text. */
export function hasPlace(finding: Finding): boolean {
  return finding.start !== null || finding.line !== null;
}

/** The span to mark, at least a character, and within a text that may be shorter by now. */
export function spanOf(doc: Text, finding: Finding): { from: number; to: number } {
  const last = Math.max(0, doc.length - 1);
  const { start, end } = finding;
  if (start !== null && end !== null) {
    const from = Math.min(start, last);
    return { from, to: Math.min(Math.max(end, from + 1), doc.length) };
  }
  const line = doc.line(Math.min(Math.max(finding.line ?? 1, 1), doc.lines));
  const from = Math.min(line.from + Math.max(0, (finding.column ?? 1) - 1), line.to, last);
  const word = /^\S+/.exec(doc.sliceString(from, line.to))?.[0] ?? "";
  return { from, to: Math.min(doc.length, from + Math.max(1, word.length)) };
}
