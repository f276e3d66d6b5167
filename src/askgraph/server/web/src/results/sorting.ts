// Rows in another order and fewer of them: typed comparison of cells, search in all columns.

import type { CellView, Row } from "../api/types.ts";
import type { Column } from "./columns.ts";
import { textOf } from "./texts.ts";
import { momentOf, numberOf } from "./values.ts";

export interface Order {
  /** The index of the column that is sorted by. */
  column: number;
  direction: "ascending" | "descending";
}

/** A row and its number in the result as it came, from 0. */
export interface Numbered {
  row: Row;
  number: number;
}

/** Returns the numbered rows, sorted; unbound cells come last in both directions. */
export function sortRows(
  rows: readonly Numbered[],
  order: Order | null,
  locale: string,
): Numbered[] {
  if (!order) return [...rows];
  const collator = new Intl.Collator(locale, { numeric: true, sensitivity: "base" });
  const sign = order.direction === "ascending" ? 1 : -1;
  const keyed = rows.map((item) => ({ item, key: keyOf(item.row[order.column] ?? null) }));
  keyed.sort((one, other) => compareKeys(one.key, other.key, sign, collator));
  return keyed.map(({ item }) => item);
}

/** The next order after a click on a column's head: ascending, descending, original. */
export function nextOrder(order: Order | null, column: number): Order | null {
  if (order?.column !== column) return { column, direction: "ascending" };
  return order.direction === "ascending" ? { column, direction: "descending" } : null;
}

/** Returns the rows that contain every word, ignoring accents and case. */
export function filterRows(
  rows: readonly Numbered[],
  columns: readonly Column[],
  search: string,
  locale: string,
): Numbered[] {
  const words = foldText(search).split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...rows];
  return rows.filter(({ row }) => {
    const cells = columns.flatMap(({ index }) => row[index] ?? []);
    const text = foldText(cells.map((cell) => `${textOf(cell, locale)}\n${cell.value}`).join("\n"));
    return words.every((word) => text.includes(word));
  });
}

/** A text without accents, in small letters. */
export function foldText(text: string): string {
  return text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
}

type Key =
  | { rank: 0; value: number }
  | { rank: 1; value: number }
  | { rank: 2; value: string }
  | null;

function keyOf(cell: CellView | null): Key {
  if (!cell) return null;
  const number = numberOf(cell);
  if (number !== null) return { rank: 0, value: number };
  const moment = momentOf(cell);
  if (moment) return { rank: 1, value: moment.time };
  return { rank: 2, value: cell.label ?? cell.value };
}

function compareKeys(one: Key, other: Key, sign: number, collator: Intl.Collator): number {
  if (!one || !other) return one ? -1 : other ? 1 : 0;
  if (one.rank !== other.rank) return sign * (one.rank - other.rank);
  if (one.rank === 2 && other.rank === 2) return sign * collator.compare(one.value, other.value);
  return sign * (Number(one.value) - Number(other.value));
}
