// What the columns of a result hold, which decides how they are sorted, aligned and drawn.

import type { Cell, Row } from "../api/types.ts";
import { headingOf } from "./headings.ts";
import { checkedPlace, momentOf, numberOf, pictureOf, placeOf } from "./values.ts";

export type Kind =
  | "number"
  | "time"
  | "thing"
  | "text"
  | "boolean"
  | "picture"
  | "place"
  | "mixed"
  | "empty";

export interface Column {
  name: string;
  /** What stands above it. */
  title: string;
  index: number;
  kind: Kind;
  /** Whether it answers the question; the others are context. */
  answers: boolean;
}

/** Two columns of degrees that name one place together. */
export interface Degrees {
  latitude: Column;
  longitude: Column;
}

const YEAR_NAME = /(^|[^a-z])(year|jahr|año|année|anno)s?$/i;
const LATITUDE = /^(.*?)(?:lat|latitude|breitengrad|breite)$/i;
const LONGITUDE = /^(.*?)(?:lon|lng|long|longitude|längengrad|länge)$/i;

/** The columns of a table with what each holds in all its rows. */
export function columnsOf(
  names: readonly string[],
  rows: readonly Row[],
  answering: readonly string[],
  labels: Readonly<Record<string, string>> = {},
): Column[] {
  return names.map((name, index) => ({
    name,
    title: headingOf(name, labels),
    index,
    kind: kindOf(
      name,
      rows.map((row) => row[index] ?? null),
    ),
    answers: answering.length === 0 || answering.includes(name),
  }));
}

/** The pair of columns that hold latitude and longitude, null where there is none. */
export function degreesOf(columns: readonly Column[], rows: readonly Row[]): Degrees | null {
  const numbers = columns.filter((column) => column.kind === "number");
  for (const latitude of numbers) {
    const stem = LATITUDE.exec(latitude.name)?.[1];
    const longitude = numbers.find((other) => LONGITUDE.exec(other.name)?.[1] === stem);
    if (stem === undefined || !longitude) continue;
    if (rows.every((row) => soundPair(row, latitude, longitude))) return { latitude, longitude };
  }
  return null;
}

function soundPair(row: Row, latitude: Column, longitude: Column): boolean {
  const [north, east] = [
    numberOf(row[latitude.index] ?? null),
    numberOf(row[longitude.index] ?? null),
  ];
  return north === null || east === null || checkedPlace(east, north) !== null;
}

function kindOf(name: string, cells: readonly (Cell | null)[]): Kind {
  const kinds = new Set(cells.filter((cell) => cell !== null).map((cell) => kindOfCell(cell)));
  if (kinds.size === 0) return "empty";
  if (kinds.size > 1)
    return kinds.has("picture") && kinds.has("thing") && kinds.size === 2 ? "thing" : "mixed";
  const [kind] = kinds;
  return kind === "number" && YEAR_NAME.test(name) && cells.every(isYear)
    ? "time"
    : (kind ?? "mixed");
}

function kindOfCell(cell: Cell): Kind {
  if (pictureOf(cell)) return "picture";
  if (cell.type !== "literal") return "thing";
  if (numberOf(cell) !== null) return "number";
  if (momentOf(cell)) return "time";
  if (placeOf(cell)) return "place";
  return cell.datatype?.endsWith("#boolean") ? "boolean" : "text";
}

function isYear(cell: Cell | null): boolean {
  return cell === null || /^-?\d{1,4}$/.test(cell.value);
}

/** The classes of a column's cells. */
export function classOf(column: Column): string {
  return column.answers ? column.kind : `${column.kind} context`;
}
