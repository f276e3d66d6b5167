// Scales of charts, by d3-scale and d3-time: marks at round numbers and at the beginnings of times.

import { type ScaleLinear, type ScaleLogarithmic, scaleLinear, scaleLog } from "d3-scale";
import { utcTicks } from "d3-time";
import { extent } from "./values.ts";

/** A scale of times, with its marks and how finely they are to be written. */
interface TimeAxis {
  readonly scale: ScaleLinear<number, number>;
  readonly ticks: readonly Date[];
  readonly precision: "year" | "month" | "day";
}

const DAY = 86_400_000;
const HALF_YEAR = 182.62 * DAY;

/** A scale over all values with about `count` marks; zero is in it if `zero`, or if it is near. */
export function numberScale(
  values: readonly number[],
  count: number,
  zero = false,
): ScaleLinear<number, number> {
  let [low, high] = extent(values);
  if (zero || (low > 0 && low < 0.4 * high)) low = Math.min(0, low);
  if (zero || (high < 0 && high > 0.4 * low)) high = Math.max(0, high);
  if (low === high)
    [low, high] = low === 0 ? [0, 1] : [low - Math.abs(low) / 2, high + Math.abs(high) / 2];
  return scaleLinear([low, high], [0, 1]).nice(Math.max(1, count));
}

/** Values whose largest is as many times their smallest are drawn by their magnitudes. */
const WIDE = 1000;

/** Whether values, all above zero, spread over orders of magnitude. */
export function isWide(values: readonly number[]): boolean {
  const [low, high] = extent(values);
  return low > 0 && high >= WIDE * low;
}

/** A scale of the magnitudes of values above zero. */
export function logScale(values: readonly number[]): ScaleLogarithmic<number, number> {
  return scaleLog(extent(values), [0, 1]).nice();
}

export function isPowerOfTen(value: number): boolean {
  return Math.log10(value).toFixed(9).endsWith(".000000000");
}

/** The bounds of about the root of `count` classes of equal width over the values. */
export function binBounds(values: readonly number[]): number[] {
  const [low, high] = extent(values);
  const end = high > low ? high : low + (Math.abs(low) || 1);
  return niceBounds(low, end, wantedBins(values));
}

/** The bounds of classes of whole years over times in milliseconds. */
export function yearBounds(times: readonly number[]): number[] {
  const [low, high] = extent(times.map(yearOf));
  const most = Math.min(wantedBins(times), high + 1 - low);
  return niceBounds(low, high + 1, most).map((year) => new Date(0).setUTCFullYear(year, 0, 1));
}

/** A scale over times in milliseconds with marks at the beginnings of years, months or days. */
export function timeAxis(times: readonly number[], count: number): TimeAxis {
  let [from, to] = extent(times);
  if (from === to) [from, to] = [from - HALF_YEAR, to + HALF_YEAR];
  const most = Math.max(1, Math.min(count, (to - from) / DAY));
  const ticks = utcTicks(new Date(from), new Date(to), most).filter(
    (tick) => tick.getTime() % DAY === 0,
  );
  const months = ticks.every((tick) => tick.getUTCDate() === 1);
  const years = months && ticks.every((tick) => tick.getUTCMonth() === 0);
  const precision = years ? "year" : months ? "month" : "day";
  return { scale: scaleLinear([from, to], [0, 1]), ticks, precision };
}

/** The calendar year of a time in milliseconds. */
export function yearOf(time: number): number {
  return new Date(time).getUTCFullYear();
}

function wantedBins(values: readonly number[]): number {
  return Math.min(30, Math.max(5, Math.ceil(Math.sqrt(values.length)) + 1));
}

function niceBounds(low: number, high: number, count: number): number[] {
  return scaleLinear([low, high], [0, 1]).nice(count).ticks(count);
}
