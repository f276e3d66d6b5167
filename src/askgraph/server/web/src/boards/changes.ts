// Describes the changes of a pinned answer: how many rows, and which.

import type { ChangesView, PinView, Row } from "../api/types.ts";
import { formatCell } from "../ask/HeadlineView.tsx";
import { say } from "./words.ts";

/** More changes than this are only counted. */
const MOST = 100;

interface Change {
  readonly look: "good" | "warn" | "bad";
  readonly kind: string;
  readonly row: string;
  readonly was: string;
}

/** The kinds of changes that there are, each with its look and its number in words. */
export function countChanges(changes: ChangesView): (readonly [look: string, text: string])[] {
  const value = valueBefore(changes);
  if (changes.boolean !== null)
    return [["warn", say.was(changes.boolean ? say.yes : say.no)] as const];
  if (value) return [["warn", say.was(told(value))] as const];
  const all = [
    ["good", changes.added, say.added],
    ["bad", changes.gone, say.gone],
    ["warn", changes.changed, say.changed],
  ] as const;
  return all.flatMap(([look, count, words]) => (count > 0 ? [[look, words(count)] as const] : []));
}

/** The rows that changed: those that are there, then those that are gone. */
export function listChanges({ answer, changes }: PinView): Change[] {
  if (!changes || valueBefore(changes)) return [];
  const now = changes.rows.map(({ row: at, was }): Change => {
    const row = answer.cells[at] ?? [];
    return was
      ? { look: "warn", kind: say.otherRow, row: told(row), was: told(was, row) }
      : { look: "good", kind: say.newRow, row: told(row), was: "" };
  });
  const lost = changes.lost.map(
    (row): Change => ({ look: "bad", kind: say.goneRow, row: told(row), was: "" }),
  );
  return [...now, ...lost].slice(0, MOST);
}

/** The previous value of a result with a single value. */
function valueBefore({ total, rows }: ChangesView): Row | null {
  const was = rows[0]?.was;
  return total === 1 && was?.length === 1 ? was : null;
}

/** A row in one line; with `other`, only the cells in which it differs from that. */
function told(row: Row, other: Row = []): string {
  const texts = row.map((cell, at) => {
    const text = formatCell(cell);
    return other.length > 0 && text === formatCell(other[at] ?? null) ? "" : text;
  });
  return texts.filter(Boolean).join(" · ");
}
