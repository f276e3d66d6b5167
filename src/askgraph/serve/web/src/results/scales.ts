// Axes: from values to pixels, with marks at round numbers and at the beginnings of times.

export interface Scale {
  from: number;
  to: number;
  ticks: number[];
  /** The step between two marks. */
  step: number;
  /** Where a value lies: 0 at the beginning, 1 at the end. */
  at: (value: number) => number;
}

export interface TimeScale extends Scale {
  /** How finely the marks are to be written. */
  precision: "year" | "month" | "day";
}

const YEAR = 365.2425 * 86_400_000;
const MONTHS = [1, 3, 6];
const DAYS = [1, 2, 7, 14];

/** A scale over all values with about `count` marks; zero is in it where `zero` or it is near. */
export function numberScale(values: readonly number[], count: number, zero = false): Scale {
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (zero || (low > 0 && low < 0.4 * high)) low = Math.min(0, low);
  if (zero || (high < 0 && high > 0.4 * low)) high = Math.max(0, high);
  if (low === high)
    [low, high] = low === 0 ? [0, 1] : [low - Math.abs(low) / 2, high + Math.abs(high) / 2];
  const step = niceStep((high - low) / Math.max(1, count));
  const from = Math.floor(low / step + 1e-9) * step;
  const to = Math.ceil(high / step - 1e-9) * step;
  const ticks = Array.from({ length: Math.round((to - from) / step) + 1 }, (_, i) =>
    tidy(from + i * step, step),
  );
  return { from, to, step, ticks, at: (value) => (value - from) / (to - from) };
}

/** The bounds of about the root of `count` classes of equal width over the values. */
export function binBounds(values: readonly number[]): number[] {
  const wanted = Math.min(30, Math.max(5, Math.ceil(Math.sqrt(values.length)) + 1));
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const step = niceStep((high - low || Math.abs(high) || 1) / wanted);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(high / step - 1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) => tidy((first + i) * step, step));
}

/** The bounds of classes of whole years over times in milliseconds. */
export function yearBounds(times: readonly number[]): number[] {
  const years = times.map(yearOf);
  const [low, high] = [Math.min(...years), Math.max(...years)];
  const wanted = Math.min(30, Math.max(5, Math.ceil(Math.sqrt(times.length)) + 1));
  const step = Math.max(1, Math.round(niceStep((high - low + 1) / wanted)));
  const first = Math.floor(low / step) * step;
  const count = Math.floor((high - first) / step) + 1;
  return Array.from({ length: count + 1 }, (_, i) => startOfYear(first + i * step));
}

/** A scale over times in milliseconds with marks at the beginnings of years, months or days. */
export function timeScale(times: readonly number[], count: number): TimeScale {
  let [from, to] = [Math.min(...times), Math.max(...times)];
  if (from === to) [from, to] = [from - YEAR / 2, to + YEAR / 2];
  const at = (time: number) => (time - from) / (to - from);
  const step = (to - from) / Math.max(1, count);
  const precision = step >= 0.75 * YEAR ? "year" : step >= 0.8 * (YEAR / 12) ? "month" : "day";
  const ticks = beginnings(precision, from, to, step).filter((time) => time >= from && time <= to);
  return { from, to, step, ticks, precision, at };
}

/** The calendar year of a time in milliseconds. */
export function yearOf(time: number): number {
  return new Date(time).getUTCFullYear();
}

/** The first moment of a year in milliseconds. */
export function startOfYear(year: number): number {
  const at = new Date(0);
  at.setUTCFullYear(year, 0, 1);
  return at.getTime();
}

function beginnings(
  precision: TimeScale["precision"],
  from: number,
  to: number,
  step: number,
): number[] {
  if (precision === "year") {
    const years = Math.max(1, Math.round(niceStep(step / YEAR)));
    const first = Math.ceil(yearOf(from) / years) * years;
    return range(first, yearOf(to), years).map(startOfYear);
  }
  const start = new Date(from);
  if (precision === "month") {
    const months = smallestOf(MONTHS, step / (YEAR / 12));
    const first = start.getUTCFullYear() * 12 + Math.ceil(start.getUTCMonth() / months) * months;
    const end = new Date(to);
    const last = end.getUTCFullYear() * 12 + end.getUTCMonth();
    return range(first, last, months).map((month) =>
      Date.UTC(Math.floor(month / 12), month % 12, 1),
    );
  }
  const days = smallestOf(DAYS, step / 86_400_000);
  return range(Math.ceil(from / 86_400_000), Math.floor(to / 86_400_000), days).map(
    (day) => day * 86_400_000,
  );
}

function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 2.5, 5].find((candidate) => rough / power <= candidate * 1.0001) ?? 10;
  return factor * power;
}

function tidy(value: number, step: number): number {
  const digits = Math.min(20, Math.max(0, 2 - Math.floor(Math.log10(step))));
  return digits === 0 ? value : Number(value.toFixed(digits));
}

function smallestOf(steps: readonly number[], wanted: number): number {
  return steps.find((step) => step >= wanted) ?? steps[steps.length - 1] ?? 1;
}

function range(first: number, last: number, step: number): number[] {
  return Array.from(
    { length: Math.max(0, Math.floor((last - first) / step) + 1) },
    (_, i) => first + i * step,
  );
}
