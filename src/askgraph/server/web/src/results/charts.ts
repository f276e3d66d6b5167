// Charts that a result suggests, and the contents of each.

import type { Row } from "../api/types.ts";
import { type Column, degreesOf, type Pin, wordsOf } from "./columns.ts";
import { textOf } from "./texts.ts";
import { type Moment, momentOf, numberOf, parseMoment } from "./values.ts";

/**
 * Bars: a number for each name. Lines: a number over time, a line for each name. Scatter: two
 * numbers of each row against each other. Histogram: how often numbers or times occur.
 */
export interface Chart {
  readonly kind: "bars" | "line" | "scatter" | "histogram";
  readonly value: Column;
  /** The horizontal column: names of bars, a time, the other number; null for a histogram. */
  readonly by: Column | null;
  /** The names of points or of lines; null if there are none. */
  readonly name: Column | null;
}

export interface Bar {
  readonly name: string;
  readonly value: number;
}

export interface Dot extends Bar {
  readonly across: number;
}

export interface LinePoint {
  readonly moment: Moment;
  readonly value: number;
}

export interface Series {
  readonly name: string;
  /** Its points from early to late, in runs that are each drawn as one line. */
  readonly runs: readonly (readonly LinePoint[])[];
}

export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

type Columns = readonly Column[];
type Rows = readonly Row[];

/** The number of bars at first, and the maximum. */
export const FIRST_BARS = 20;
export const MOST_BARS = 200;
const FEWEST_BARS = 2;
const FEWEST_POINTS = 3;
const FEWEST_TO_COUNT = 8;
const MOST_SERIES = 6;

/** The charts that the columns suggest, the best first; none for a single value or mere names. */
export function chartsOf(columns: Columns, rows: Rows, ordered: boolean): Chart[] {
  const degrees = Object.values(degreesOf(columns, rows) ?? {});
  const numbers = columns.filter((one) => one.kind === "number" && !degrees.includes(one));
  const name = nameOf(columns, rows);
  const lines = linesOf(columns, numbers, rows);
  const bars = numbers
    .filter((value) => valuesOf(value, rows).length >= FEWEST_BARS)
    .flatMap((value): Chart[] =>
      name && distinct(name, rows) >= FEWEST_BARS ? [{ kind: "bars", value, by: name, name }] : [],
    );
  const histograms = columns
    .filter((value) => numbers.includes(value) || value.kind === "time")
    .filter((value) => valuesOf(value, rows).length >= FEWEST_TO_COUNT && distinct(value, rows) > 1)
    .map((value): Chart => ({ kind: "histogram", value, by: null, name: null }));
  const named = ordered || lines.length === 0 ? [...bars, ...lines] : [...lines, ...bars];
  const found = [...named, ...scattersOf(numbers, name, rows), ...histograms];
  const whole = found.filter((chart) => saysAll(chart, columns, rows));
  return [...whole, ...found.filter((chart) => !whole.includes(chart))];
}

/** Whether a chart shows all answer columns, so that it can replace the table. */
function saysAll({ kind, value, by, name }: Chart, columns: Columns, rows: Rows): boolean {
  const enough = kind === "bars" || kind === "line" ? FEWEST_POINTS : FEWEST_TO_COUNT;
  const answers = columns.filter((column) => column.answers);
  const drawn = [value, by, name];
  return rows.length >= enough && value.answers && answers.every((one) => drawn.includes(one));
}

/** The bars of a chart, the largest first unless the order of the rows counts. */
export function bars(chart: Chart, rows: Rows, locale: string, ordered: boolean): Bar[] {
  const found = rows.flatMap((row) => {
    const [name, value] = [textIn(row, chart.name, locale), numberIn(row, chart.value)];
    return name && value !== null ? [{ name, value }] : [];
  });
  return ordered ? found : found.sort((one, other) => other.value - one.value);
}

/** The points of a chart of two numbers. */
export function dots(chart: Chart, rows: Rows, locale: string): Dot[] {
  return rows.flatMap((row) => {
    const [across, value] = [numberIn(row, chart.by), numberIn(row, chart.value)];
    const name = textIn(row, chart.name, locale);
    return across !== null && value !== null ? [{ name, across, value }] : [];
  });
}

/** The lines of a chart; a count is 0 in years and months without a row if the rows are `whole`. */
export function lines(chart: Chart, rows: Rows, locale: string, whole: boolean): Series[] {
  const byName = new Map<string, LinePoint[]>();
  for (const row of rows) {
    const [moment, value] = [timeIn(row, chart.by), numberIn(row, chart.value)];
    if (!moment || value === null) continue;
    const name = textIn(row, chart.name, locale);
    byName.set(name, [...(byName.get(name) ?? []), { moment, value }]);
  }
  const isCount = whole && COUNT.test(wordsOf(chart.value.name));
  return [...byName].map(([name, points]) => {
    points.sort((one, other) => one.moment.time - other.moment.time);
    return { name, runs: runsOf(points, isCount) };
  });
}

const COUNT = /^number of |^count|\bcount$/;
/** A longer gap is not filled with zeros. */
const WIDEST = 100;
const MONTHS = { year: 12, month: 1, day: Number.NaN, minute: Number.NaN };

/** Splits a line where years or months are missing; of counts, these get a 0 instead. */
function runsOf(points: readonly LinePoint[], isCount: boolean): LinePoint[][] {
  const months = MONTHS[points[0]?.moment.precision ?? "day"];
  const steps = points.map(
    ({ moment }, at) => (monthOf(moment) - monthOf(points[at - 1]?.moment ?? moment)) / months,
  );
  const widest = isCount ? WIDEST : Math.min(...steps.filter((step) => step > 0));
  const runs: LinePoint[][] = [];
  for (const [at, point] of points.entries()) {
    const step = steps[at] ?? 0;
    const run = step > widest ? null : runs.at(-1);
    for (let back = step - 1; run && isCount && back > 0; back--) {
      const before = new Date(point.moment.time);
      before.setUTCMonth(before.getUTCMonth() - back * months);
      run.push({ moment: { ...point.moment, time: before.getTime() }, value: 0 });
    }
    if (run) run.push(point);
    else runs.push([point]);
  }
  return runs;
}

function monthOf({ time }: Moment): number {
  return 12 * new Date(time).getUTCFullYear() + new Date(time).getUTCMonth();
}

/** The numbers of a column, times as milliseconds. */
export function valuesOf(column: Column, rows: Rows): number[] {
  return rows.flatMap((row) =>
    column.kind === "time" ? (timeIn(row, column)?.time ?? []) : (numberIn(row, column) ?? []),
  );
}

/** How many of the values lie between two bounds that follow each other; the last is included. */
export function bins(values: readonly number[], bounds: readonly number[]): Bin[] {
  return bounds.slice(1).map((to, index) => {
    const from = bounds[index] ?? to;
    const end = index === bounds.length - 2 ? Number.POSITIVE_INFINITY : to;
    return { from, to, count: values.filter((value) => value >= from && value < end).length };
  });
}

/** The key of a chart, independent of the other charts. */
export function keyOf({ kind, value, by }: Chart): string {
  return [kind, value.name, by?.name ?? ""].join(" ");
}

const isNamed = ({ kind }: Column) => kind === "thing" || kind === "text";

function nameOf(columns: Columns, rows: Rows): Column | null {
  const names = columns.filter(isNamed);
  return names.find((column) => distinct(column, rows) > 0.9 * rows.length) ?? null;
}

function scattersOf([by, value, ...more]: Columns, name: Column | null, rows: Rows): Chart[] {
  if (!by || !value) return [];
  if ([by, value, ...more].some((one) => distinct(one, rows) < FEWEST_POINTS)) return [];
  const both = rows.filter((row) => [by, value].every((one) => numberIn(row, one) !== null));
  return both.length < FEWEST_POINTS ? [] : [{ kind: "scatter", value, by, name }];
}

function linesOf(columns: Columns, numbers: Columns, rows: Rows): Chart[] {
  const by = columns.find((one) => one.kind === "time" && distinct(one, rows) >= FEWEST_POINTS);
  if (!by) return [];
  const name = columns.find((column) => isSeries(column, rows)) ?? null;
  if (!name && distinct(by, rows) < 0.9 * rows.length) return [];
  return numbers
    .filter((value) => valuesOf(value, rows).length >= FEWEST_POINTS)
    .map((value) => ({ kind: "line", value, by, name }));
}

function isSeries(column: Column, rows: Rows): boolean {
  const names = distinct(column, rows);
  const isFew = names >= 2 && names <= MOST_SERIES && rows.length >= FEWEST_POINTS * names;
  return isNamed(column) && isFew;
}

function distinct({ index }: Column, rows: Rows): number {
  return new Set(rows.flatMap((row) => row[index]?.value ?? [])).size;
}

function textIn(row: Row, column: Column | null, locale: string): string {
  const cell = column && row[column.index];
  return cell ? textOf(cell, locale) : "";
}

function numberIn(row: Row, column: Column | null): number | null {
  return numberOf((column && row[column.index]) ?? null);
}

function timeIn(row: Row, column: Column | null): Moment | null {
  const cell = (column && row[column.index]) ?? null;
  const isYear = cell !== null && column?.kind === "time";
  return momentOf(cell) ?? (isYear ? parseMoment(cell.value.padStart(4, "0")) : null);
}

// The views of a result, and the most informative one.

export type View = "card" | "table" | "chart" | "map" | "graph";

interface Shown {
  readonly columns: readonly Column[];
  readonly charts: readonly Chart[];
  readonly pins: readonly Pin[];
  readonly rows: readonly Row[];
}

/** The view that a result opens with. */
export function firstView({ columns, charts, pins, rows }: Shown): View {
  if (onlyThing(columns, rows) !== null) return "card";
  if (pins.length > 0 && pins.length >= rows.length / 2) return "map";
  const [chart] = charts;
  return chart && saysAll(chart, columns, rows) ? "chart" : "table";
}

/** The IRI of the only thing in a result; null for any other result. */
export function onlyThing(columns: readonly Column[], rows: readonly Row[]): string | null {
  const answers = columns.filter((column) => column.answers);
  const [column] = answers;
  if (!column || answers.length > 1 || rows.length !== 1) return null;
  const cell = rows[0]?.[column.index];
  return cell?.type === "iri" && column.kind === "thing" ? cell.value : null;
}
