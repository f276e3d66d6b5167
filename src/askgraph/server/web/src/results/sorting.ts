// Rows in another order and fewer of them: typed comparison of cells, search in all columns.

import { refine, tableOf } from "../api/graphs.ts";
import type { CellView, Row } from "../api/types.ts";
import { language } from "../i18n/index.ts";
import { useFetched } from "../parts/asking.ts";
import type { Column } from "./columns.ts";
import { textOf } from "./texts.ts";
import { momentOf, numberOf } from "./values.ts";

export interface Order {
  column: number;
  direction: "ascending" | "descending";
}

/** A row and its number in the result as it came, from 0. */
export interface Numbered {
  row: Row;
  number: number;
}

/** A graph and the query of a result that has more rows than the page. */
export interface Source {
  readonly graph: string;
  readonly query: string;
}

/** The first rows when the query sorts by a column; undefined until they come, null if it cannot. */
export function useSorted(whole: Source | null, column: Column | undefined, descending: boolean) {
  const { name: sort_by = "", kind = "empty" } = column ?? {};
  const by_name = kind === "thing";
  const source = by_name || ["number", "time", "text"].includes(kind) ? whole : null;
  const { graph = "", query = "" } = source ?? {};
  const sorted = useFetched(`${graph} ${sort_by} ${descending} ${query}`, async () => {
    if (!source) return null;
    const refined = await refine(graph, query, { sort_by, by_name, descending }, language.value);
    return { ...refined, ...(await tableOf(graph, refined.query)) };
  });
  if (!source || sorted.problem) return null;
  return sorted.busy ? undefined : sorted.value;
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

/** What a cell is compared by: numbers come before times, and these before texts. */
type Key = readonly [rank: number, value: number | string] | null;

function keyOf(cell: CellView | null): Key {
  if (!cell) return null;
  const number = numberOf(cell);
  if (number !== null) return [0, number];
  const moment = momentOf(cell);
  return moment ? [1, moment.time] : [2, cell.label ?? cell.value];
}

function compareKeys(one: Key, other: Key, sign: number, collator: Intl.Collator): number {
  if (!one || !other) return one ? -1 : other ? 1 : 0;
  const [[rank, value], [otherRank, otherValue]] = [one, other];
  if (rank !== otherRank) return sign * (rank - otherRank);
  const isText = typeof value === "string" && typeof otherValue === "string";
  return sign * (isText ? collator.compare(value, otherValue) : Number(value) - Number(otherValue));
}
