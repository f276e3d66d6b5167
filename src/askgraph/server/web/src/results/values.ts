// Values of cells beyond their text: a number, a time, a place, a picture.

import type { AnswerView, CellView } from "../api/types.ts";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const INTEGERS =
  "integer|long|int|short|byte|(?:non)?(?:Positive|Negative|positive|negative)Integer";
const UNSIGNED = "unsigned(?:Long|Int|Short|Byte)";
const NUMERIC = new RegExp(`^${XSD}(?:decimal|double|float|${INTEGERS}|${UNSIGNED})$`);
const TIMES = new RegExp(`^${XSD}(?:date|dateTime|dateTimeStamp|gYear|gYearMonth)$`);
const MOMENT =
  /^(-?\d{4,})(?:-(\d\d)(?:-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?)?)?)?(Z|[+-]\d\d:\d\d)?$/;
const PICTURE = /\.(?:png|jpe?g|gif|webp|avif|svg)(?:\?[^#]*)?$/i;
const POINT = /^\s*(?:<([^>]*)>\s*)?POINT\s*(?:Z\s*)?\(\s*(\S+)\s+(\S+)(?:\s+\S+)?\s*\)\s*$/i;
const WKT = "http://www.opengis.net/ont/geosparql#wktLiteral";

/** A time: milliseconds since 1970 (UTC), and how finely it was given. */
export interface Moment {
  time: number;
  precision: "year" | "month" | "day" | "minute";
  isZoned: boolean;
}

/** A place on Earth in degrees. */
export interface Place {
  longitude: number;
  latitude: number;
}

/** The positions of the columns that answer; of all if none is marked. */
export function answerColumns({ columns, answer_columns: answering }: AnswerView): number[] {
  const found = answering.map((name) => columns.indexOf(name)).filter((at) => at >= 0);
  return found.length > 0 ? found : [...columns.keys()];
}

/** The finite number that a literal of a numeric datatype holds, else null. */
export function numberOf(cell: CellView | null): number | null {
  if (cell?.type !== "literal" || !NUMERIC.test(cell.datatype ?? "")) return null;
  const value = Number(cell.value);
  return cell.value.trim() !== "" && Number.isFinite(value) ? value : null;
}

/** The time that a literal of a date or year datatype holds, else null. */
export function momentOf(cell: CellView | null): Moment | null {
  if (cell?.type !== "literal" || !TIMES.test(cell.datatype ?? "")) return null;
  return parseMoment(cell.value);
}

/** The time that a date, a year or a date with a time in ISO 8601 names, else null. */
export function parseMoment(text: string): Moment | null {
  const found = MOMENT.exec(text.trim());
  if (!found) return null;
  const [, year, month, day, hour, minute, second, zone] = found;
  const at = new Date(0);
  at.setUTCFullYear(Number(year), Number(month ?? 1) - 1, Number(day ?? 1));
  at.setUTCHours(Number(hour ?? 0), Number(minute ?? 0), Math.floor(Number(second ?? 0)));
  if (Number.isNaN(at.getTime())) return null;
  const isMidnight = Number(hour ?? 0) + Number(minute ?? 0) + Number(second ?? 0) === 0;
  const time = at.getTime() - (isMidnight ? 0 : minutesOf(zone) * 60_000);
  const precision = !isMidnight ? "minute" : day ? "day" : month ? "month" : "year";
  return { time, precision, isZoned: zone !== undefined };
}

/** The place that a point in well-known text names, else null; points off Earth are none. */
export function placeOf(cell: CellView | null): Place | null {
  if (cell?.type !== "literal" || ![WKT, `${XSD}string`].includes(cell.datatype || WKT))
    return null;
  const found = POINT.exec(cell.value);
  if (!found) return null;
  const [, system = "", first, second] = found;
  if (system && !/CRS84|EPSG.*4326|Q2$/.test(system)) return null;
  const northFirst = /4326/.test(system);
  return checkPlace(Number(northFirst ? second : first), Number(northFirst ? first : second));
}

/** Returns the place at two numbers of degrees, null if there is no such place. */
export function checkPlace(longitude: number, latitude: number): Place | null {
  return Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90 ? { longitude, latitude } : null;
}

/** Returns the address of a picture if a cell is one of http or https, else null. */
export function pictureOf(cell: CellView | null): string | null {
  const address = cell && linkOf(cell.value);
  if (!cell || !address || (cell.type !== "iri" && !cell.datatype?.endsWith("#anyURI")))
    return null;
  const path = new URL(address).pathname;
  return PICTURE.test(path) || path.includes("/Special:FilePath/") ? address : null;
}

/** The address that a value may be linked to: http and https only, without credentials. */
export function linkOf(value: string): string | null {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return null;
  const address = new URL(value);
  return address.username || address.password ? null : address.href;
}

function minutesOf(zone: string | undefined): number {
  if (!zone || zone === "Z") return 0;
  const [hours, minutes] = zone.slice(1).split(":").map(Number);
  return (zone.startsWith("-") ? -1 : 1) * ((hours ?? 0) * 60 + (minutes ?? 0));
}

/** The least and the greatest of numbers. */
export function extent(values: readonly number[]): [number, number] {
  return [Math.min(...values), Math.max(...values)];
}
