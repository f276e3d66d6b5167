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

/** Two numbers of each row against each other. */
interface Scatter {
  kind: "scatter";
  /** What the points are called; null if the rows have no names. */
  name: Column | null;
  across: Column;
  value: Column;
}

export type Chart = Bars | Line | Scatter | Histogram;

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

export interface Dot {
  row: number;
  name: string;
  across: number;
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

/** So many bars are drawn first, and at most so many. */
export const FIRST_BARS = 20;
export const MOST_BARS = 200;
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
  const scatters = scattersOf(columns, numbers, rows);
  const found: Chart[] =
    ordered || lines.length === 0
      ? [...bars, ...lines, ...scatters, ...histograms]
      : [...lines, ...bars, ...scatters, ...histograms];
  const whole = found.filter((chart) => saysAll(chart, columns, rows));
  return [...whole, ...found.filter((chart) => !whole.includes(chart))];
}

/** Whether a chart shows all that answers, so that it may stand in the place of the table. */
export function saysAll(chart: Chart, columns: readonly Column[], rows: readonly Row[]): boolean {
  const drawn = Object.values(chart).filter((one) => columns.includes(one as Column));
  const answers = columns.filter((column) => column.answers);
  const isNamed = chart.kind === "bars" || chart.kind === "line";
  const enough = isNamed ? FEWEST_POINTS : FEWEST_TO_COUNT;
  return (
    rows.length >= enough && chart.value.answers && answers.every((one) => drawn.includes(one))
  );
}

/** The bars of a chart, the largest first unless the order of the rows counts. */
export function bars(chart: Bars, rows: readonly Row[], locale: string, ordered: boolean): Bar[] {
  const found = rows.flatMap((row, number) => {
    const [name, value] = [row[chart.name.index], numberOf(row[chart.value.index] ?? null)];
    return name && value !== null ? [{ row: number, name: textOf(name, locale), value }] : [];
  });
  return ordered ? found : found.sort((one, other) => other.value - one.value);
}

/** The points of a chart of two numbers. */
export function dots(chart: Scatter, rows: readonly Row[], locale: string): Dot[] {
  return rows.flatMap((row, number) => {
    const [across, value] = [chart.across, chart.value].map(({ index }) =>
      numberOf(row[index] ?? null),
    );
    const name = chart.name && row[chart.name.index];
    return typeof across === "number" && typeof value === "number"
      ? [{ row: number, name: name ? textOf(name, locale) : "", across, value }]
      : [];
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
  return { value: chart.value.title, by: byOf(chart)?.title ?? null };
}

/** What a chart is known by, also when other charts come or go. */
export function keyOf(chart: Chart): string {
  return [chart.kind, chart.value.name, byOf(chart)?.name ?? ""].join(" ");
}

function byOf(chart: Chart): Column | null {
  switch (chart.kind) {
    case "bars":
      return chart.name;
    case "line":
      return chart.time;
    case "scatter":
      return chart.across;
    default:
      return null;
  }
}

function nameOf(columns: readonly Column[], rows: readonly Row[]): Column | null {
  const names = columns.filter((column) => column.kind === "thing" || column.kind === "text");
  return names.find((column) => distinct(column, rows) > 0.9 * rows.length) ?? null;
}

function scattersOf(
  columns: readonly Column[],
  numbers: readonly Column[],
  rows: readonly Row[],
): Scatter[] {
  const [across, value] = numbers;
  if (!across || !value || numbers.some((one) => distinct(one, rows) < FEWEST_POINTS)) return [];
  const both = rows.filter((row) =>
    [across, value].every(({ index }) => numberOf(row[index] ?? null) !== null),
  );
  if (both.length < FEWEST_POINTS) return [];
  return [{ kind: "scatter", name: nameOf(columns, rows), across, value }];
}

function barsOf(
  columns: readonly Column[],
  numbers: readonly Column[],
  rows: readonly Row[],
): Bars[] {
  const name = nameOf(columns, rows);
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
