// Values written for readers of a language: numbers grouped, dates spelled out.

import type { CellView } from "../api/types.ts";
import { type Moment, momentOf, numberOf } from "./values.ts";

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const CONTROLS = /\p{Cc}+/gu;
const OVERRIDES = /[\u202a-\u202e\u2066-\u2069]/gu;

/** Returns the text of a cell: its label, or its value as people write it. */
export function textOf(cell: CellView, locale: string): string {
  if (cell.label) return stripControls(cell.label);
  if (cell.type === "iri") return stripControls(shortName(cell.value));
  if (cell.type === "blank") return "…";
  const number = numberOf(cell);
  if (number !== null) return formatNumberText(cell.value, locale);
  const moment = momentOf(cell);
  return moment ? (formatMoment(moment, locale) ?? cell.value) : stripControls(cell.value);
}

/** Formats a number for people; very large and small ones with a power of ten. */
export function formatNumberText(lexical: string | number, locale: string): string {
  const value = Number(lexical);
  if (!Number.isFinite(value)) return String(lexical);
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e15 || size < 1e-6)) return powerOfTen(value, locale);
  const exact = typeof lexical === "string" && /^[+-]?\d+$/.test(lexical) ? BigInt(lexical) : value;
  const digits = size >= 1 ? { maximumFractionDigits: 4 } : { maximumSignificantDigits: 6 };
  return new Intl.NumberFormat(locale, digits).format(exact);
}

/** A time as people write it, as finely as it was given; null for days that no calendar had. */
export function formatMoment({ time, precision, isZoned }: Moment, locale: string): string | null {
  const year = new Date(time).getUTCFullYear();
  if (precision === "year") return yearText(year);
  if (year < 1 || year > 9999) return null;
  const options: Intl.DateTimeFormatOptions = { timeZone: "UTC", year: "numeric", month: "long" };
  if (precision !== "month") options.day = "numeric";
  if (precision === "minute") Object.assign(options, { hour: "2-digit", minute: "2-digit" });
  if (precision === "minute" && isZoned) options.timeZoneName = "short";
  return new Intl.DateTimeFormat(ofDays(locale), options).format(time);
}

/** A time for the mark of an axis: no finer than the axis. */
export function markText(time: number, precision: Moment["precision"], locale: string): string {
  if (precision === "year") return yearText(new Date(time).getUTCFullYear());
  const options: Intl.DateTimeFormatOptions = { timeZone: "UTC", month: "short" };
  const more =
    precision === "month" ? ({ year: "numeric" } as const) : ({ day: "numeric" } as const);
  return new Intl.DateTimeFormat(ofDays(locale), { ...options, ...more }).format(time);
}

/** The tag to format days by: the sentences of answers have "5 August 1930" in every English. */
function ofDays(locale: string): string {
  return locale.startsWith("en") ? "en-GB" : locale;
}

function yearText(year: number): string {
  return String(year).replace("-", "−");
}

/** Returns a text without characters that would hide or turn around other text. */
export function stripControls(text: string): string {
  return text.replace(CONTROLS, " ").replace(OVERRIDES, "");
}

/** The last part of an IRI, for a thing without a label. */
export function shortName(iri: string): string {
  const tail = /[^/#:]+(?=[/#]?$)/.exec(iri)?.[0] ?? iri;
  try {
    return decodeURIComponent(tail).replaceAll("_", " ");
  } catch {
    return tail.replaceAll("_", " ");
  }
}

/** Rows as text with tabs between the cells, as spreadsheets paste it. */
export function toTabSeparated(
  head: readonly string[],
  rows: readonly (readonly (CellView | null)[])[],
): string {
  const lines = rows.map((row) =>
    row.map((cell) => (cell ? flattenText(cell.label ?? cell.value) : "")),
  );
  return [head.map(flattenText), ...lines].map((line) => line.join("\t")).join("\n");
}

/** Returns one line that no spreadsheet takes for a formula. */
function flattenText(text: string): string {
  const line = stripControls(text);
  return /^[=+@-]/.test(line) && !Number.isFinite(Number(line)) ? `'${line}` : line;
}

function powerOfTen(value: number, locale: string): string {
  const [digits = "0", exponent = "0"] = value.toExponential().split("e");
  const mantissa = new Intl.NumberFormat(locale, { maximumFractionDigits: 6 }).format(
    Number(digits),
  );
  const raised = [...exponent.replace("+", "")].map((c) =>
    c === "-" ? "⁻" : (SUPERSCRIPTS[Number(c)] ?? ""),
  );
  return `${Number(digits) === 1 ? "" : `${mantissa} × `}10${raised.join("")}`;
}
