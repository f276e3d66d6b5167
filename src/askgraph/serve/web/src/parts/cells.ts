// Terms of a result as people read them.

import type { Cell } from "../api/types.ts";
import { formatNumber, locale } from "../i18n/index.ts";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const NUMERIC = new Set(
  "integer decimal double float int long short byte nonNegativeInteger positiveInteger unsignedInt"
    .split(" ")
    .concat(
      "unsignedLong",
      "unsignedShort",
      "unsignedByte",
      "nonPositiveInteger",
      "negativeInteger",
    )
    .map((name) => XSD + name),
);
const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Whether a cell is a number that can be computed with. */
export function isNumeric(cell: Cell): boolean {
  return cell.type === "literal" && NUMERIC.has(cell.datatype ?? "") && cell.value.trim() !== "";
}

/** A cell in the page's language: a label, a number with separators, a day in words. */
export function cellText(cell: Cell | null): string {
  if (cell === null) return "";
  if (cell.type === "iri") return cell.label || localName(cell.value);
  if (cell.type === "blank") return cell.label || "…";
  if (isNumeric(cell)) return numberText(cell.value);
  if (cell.datatype === `${XSD}date`) return dayText(cell.value);
  if (cell.datatype === `${XSD}dateTime`) return momentText(cell.value);
  return cell.value;
}

/** The end of an IRI that names a thing where it has no label. */
export function localName(iri: string): string {
  const end = iri.replace(/[/#]+$/, "").replace(/^.*[/#]/, "");
  try {
    return decodeURIComponent(end).replaceAll("_", " ") || iri;
  } catch {
    return end.replaceAll("_", " ") || iri;
  }
}

/** Whether an IRI may become a link out of the page. */
export function isWebAddress(iri: string): boolean {
  return /^https?:\/\/[^\s<>"]+$/i.test(iri);
}

/** A number with separators; one too long to be read with its power of ten. */
export function numberText(value: string): string {
  const number = Number(value);
  if (!Number.isFinite(number)) return value;
  const size = Math.abs(number);
  if (size !== 0 && (size >= 1e15 || size < 1e-6)) {
    const [mantissa = "", power = "0"] = number.toExponential().split("e");
    return `${formatNumber(Number(mantissa))} × 10${raised(power)}`;
  }
  return formatNumber(number);
}

function raised(power: string): string {
  const sign = power.startsWith("-") ? "⁻" : "";
  const digits = power.replace(/^[+-]/, "");
  return sign + [...digits].map((digit) => SUPERSCRIPT[Number(digit)]).join("");
}

function dayText(value: string): string {
  const found = /^(\d{4})-(\d\d)-(\d\d)(Z|[+-]\d\d:\d\d)?$/.exec(value);
  if (!found) return value;
  const day = new Date(Date.UTC(Number(found[1]), Number(found[2]) - 1, Number(found[3])));
  // Without the years before 1000, of which Date.UTC makes others.
  if (Number(found[1]) < 1000 || Number.isNaN(day.getTime())) return value;
  return day.toLocaleDateString(locale.value, { dateStyle: "long", timeZone: "UTC" });
}

function momentText(value: string): string {
  const moment = new Date(value);
  if (!/^\d{4}-/.test(value) || Number.isNaN(moment.getTime())) return value;
  const midnight = /T00:00:00(\.0+)?(Z|[+-]\d\d:\d\d)?$/.test(value);
  if (midnight) return dayText(value.slice(0, 10));
  const zone = /(Z|[+-]\d\d:\d\d)$/.test(value) ? { timeZone: "UTC" } : {};
  return moment.toLocaleString(locale.value, { dateStyle: "long", timeStyle: "short", ...zone });
}
