// Charts that a result suggests, and the contents of each.

import type { Row } from "../api/types.ts";
import { type Column, degreesOf } from "./columns.ts";
import { textOf } from "./texts.ts";
import { type Moment, momentOf, numberOf, parsedMoment } from "./values.ts";

/** Rows with a name and a number, the first of them if there are too many to draw. */
interface Bars {
  kind: "bars";
  name: Column;
  value: Column;
}

/** A number over time, one line for each value of `series`. */
interface Line {
  kind: "line";
  time: Column;
  value: Column;
  series: Column | null;
}

/** How often numbers or times of a column occur. */
interface Histogram {
  kind: "histogram";
  value: Column;
}

export type Chart = Bars | Line | Histogram;

export interface Bar {
  row: number;
  name: string;
  value: number;
}

export interface LinePoint {
  row: number;
  moment: Moment;
  value: number;
}

export interface Series {
  name: string;
  points: LinePoint[];
}

export interface Bin {
  from: number;
  to: number;
  count: number;
}

/** More bars than this cannot be read. */
export const MOST_BARS = 40;
const FEWEST_BARS = 2;
const FEWEST_POINTS = 3;
const FEWEST_TO_COUNT = 8;
const MOST_SERIES = 6;

/** The charts that the columns suggest, the best first; none for a single value or mere names. */
export function chartsOf(
  columns: readonly Column[],
  rows: readonly Row[],
  ordered: boolean,
): Chart[] {
  const degrees = degreesOf(columns, rows);
  const numbers = columns.filter(
    (column) =>
      column.kind === "number" && column !== degrees?.latitude && column !== degrees?.longitude,
  );
  const lines = linesOf(columns, numbers, rows);
  const bars = barsOf(columns, numbers, rows);
  const counted = columns.filter((column) => numbers.includes(column) || column.kind === "time");
  const histograms = counted
    .filter(
      (column) => valuesOf(column, rows).length >= FEWEST_TO_COUNT && distinct(column, rows) > 1,
    )
    .map((value): Histogram => ({ kind: "histogram", value }));
  return ordered || lines.length === 0
    ? [...bars, ...lines, ...histograms]
    : [...lines, ...bars, ...histograms];
}

/** The bars of a chart in the order of the rows. */
export function bars(chart: Bars, rows: readonly Row[], locale: string): Bar[] {
  return rows.flatMap((row, number) => {
    const [name, value] = [row[chart.name.index], numberOf(row[chart.value.index] ?? null)];
    return name && value !== null ? [{ row: number, name: textOf(name, locale), value }] : [];
  });
}

/** The lines of a chart, each from early to late. */
export function lines(chart: Line, rows: readonly Row[], locale: string): Series[] {
  const byName = new Map<string, LinePoint[]>();
  rows.forEach((row, number) => {
    const [moment, value] = [timeIn(row, chart.time), numberOf(row[chart.value.index] ?? null)];
    if (!moment || value === null) return;
    const cell = chart.series && row[chart.series.index];
    const name = cell ? textOf(cell, locale) : "";
    byName.set(name, [...(byName.get(name) ?? []), { row: number, moment, value }]);
  });
  return [...byName].map(([name, points]) => ({
    name,
    points: points.sort((one, other) => one.moment.time - other.moment.time),
  }));
}

/** The numbers of a column, times as milliseconds. */
export function valuesOf(column: Column, rows: readonly Row[]): number[] {
  return rows.flatMap((row) => {
    const value =
      column.kind === "time" ? timeIn(row, column)?.time : numberOf(row[column.index] ?? null);
    return value === null || value === undefined ? [] : [value];
  });
}

/** How many of the values lie between two bounds that follow each other; the last bound is included. */
export function bins(values: readonly number[], bounds: readonly number[]): Bin[] {
  return bounds.slice(0, -1).map((from, index) => {
    const to = bounds[index + 1] ?? from;
    const last = index === bounds.length - 2;
    const count = values.filter(
      (value) => value >= from && (value < to || (last && value === to)),
    ).length;
    return { from, to, count };
  });
}

/** Returns the names of the columns of a chart: “mass” by “planet”. */
export function chartName(chart: Chart): { value: string; by: string | null } {
  const by = chart.kind === "bars" ? chart.name : chart.kind === "line" ? chart.time : null;
  return { value: chart.value.title, by: by?.title ?? null };
}

function barsOf(
  columns: readonly Column[],
  numbers: readonly Column[],
  rows: readonly Row[],
): Bars[] {
  const names = columns.filter((column) => column.kind === "thing" || column.kind === "text");
  const name = names.find((column) => distinct(column, rows) > 0.9 * rows.length) ?? null;
  if (!name || distinct(name, rows) < FEWEST_BARS) return [];
  return numbers
    .filter((value) => valuesOf(value, rows).length >= FEWEST_BARS)
    .map((value) => ({ kind: "bars", name, value }));
}

function linesOf(
  columns: readonly Column[],
  numbers: readonly Column[],
  rows: readonly Row[],
): Line[] {
  const time = columns.find(
    (column) => column.kind === "time" && distinct(column, rows) >= FEWEST_POINTS,
  );
  if (!time) return [];
  const series = columns.find((column) => isSeries(column, time, rows)) ?? null;
  if (!series && distinct(time, rows) < 0.9 * rows.length) return [];
  return numbers
    .filter((value) => valuesOf(value, rows).length >= FEWEST_POINTS)
    .map((value) => ({ kind: "line", time, value, series }));
}

function isSeries(column: Column, time: Column, rows: readonly Row[]): boolean {
  if (column.kind !== "thing" && column.kind !== "text") return false;
  const names = distinct(column, rows);
  return (
    names >= 2 && names <= MOST_SERIES && rows.length >= FEWEST_POINTS * names && column !== time
  );
}

function distinct(column: Column, rows: readonly Row[]): number {
  return new Set(rows.flatMap((row) => row[column.index]?.value ?? [])).size;
}

function timeIn(row: Row, column: Column): Moment | null {
  const cell = row[column.index] ?? null;
  return (
    momentOf(cell) ??
    (cell && column.kind === "time" ? parsedMoment(cell.value.padStart(4, "0")) : null)
  );
}
