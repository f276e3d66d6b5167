// Kinds of columns, which decide how they are sorted, aligned and drawn.

import type { AnswerView, CellView, Row } from "../api/types.ts";
import { language, locale } from "../i18n/index.ts";
import { shortName, stripControls, textOf } from "./texts.ts";
import { checkPlace, momentOf, numberOf, type Place, pictureOf, placeOf } from "./values.ts";
import { pluralize, say } from "./words.ts";

type Kind =
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
  title: string;
  index: number;
  kind: Kind;
  /** Whether it answers the question; the others are context. */
  answers: boolean;
}

/** Two columns of degrees that name one place together. */
interface Degrees {
  latitude: Column;
  longitude: Column;
}

const YEAR_NAME = /(^|[^a-z])(year|jahr|año|année|anno)s?$/i;
const LATITUDE = /^(.*?)(?:lat|latitude?|breitengrad|geogra\p{L}+[ _]breite)$/iu;
const LONGITUDE = /^(.*?)(?:lon|lng|long|longitude?|längengrad|geogra\p{L}+[ _]länge)$/iu;

/** Returns the columns of a table, each with the kind of its values. */
export function columnsOf(
  names: readonly string[],
  rows: readonly Row[],
  answering: readonly string[],
  { labels = {}, units = {} }: Partial<Pick<AnswerView, "labels" | "units">> = {},
): Column[] {
  return names.map((name, index) => ({
    name,
    title: headingOf(name, labels) + (units[name] ? ` (${units[name]})` : ""),
    index,
    kind: kindOf(
      name,
      rows.map((row) => row[index] ?? null),
    ),
    answers: answering.length === 0 || answering.includes(name),
  }));
}

/** Returns the columns that hold latitude and longitude, null if there are none. */
export function degreesOf(columns: readonly Column[], rows: readonly Row[]): Degrees | null {
  const numbers = columns.filter(({ kind }) => kind === "number" || kind === "text");
  const sound = pairsOf(numbers, ({ name }) => [name]).find(([latitude, longitude]) =>
    rows.every((row) => soundPair(row, latitude, longitude)),
  );
  return sound ? { latitude: sound[0], longitude: sound[1] } : null;
}

/** Those that are called latitude and longitude, each with what stands before that word alike. */
export function pairsOf<T>(all: readonly T[], names: (one: T) => readonly string[]): [T, T][] {
  const stems = (one: T, said: RegExp) => names(one).flatMap((name) => said.exec(name)?.[1] ?? []);
  return all.flatMap((north) => {
    const wanted = stems(north, LATITUDE);
    const east = all.find((one) => stems(one, LONGITUDE).some((stem) => wanted.includes(stem)));
    return wanted.length > 0 && east !== undefined ? [[north, east] as [T, T]] : [];
  });
}

function soundPair(row: Row, latitude: Column, longitude: Column): boolean {
  const cells = [row[latitude.index], row[longitude.index]];
  return cells.some((cell) => !cell) || placeIn(row, { latitude, longitude }) !== null;
}

/** The place that a row names by two columns of degrees, numbers or texts of numbers. */
function placeIn(row: Row, { latitude, longitude }: Degrees): Place | null {
  const [north, east] = [latitude, longitude].map(({ index }) => degreeOf(row[index] ?? null));
  return typeof north === "number" && typeof east === "number" ? checkPlace(east, north) : null;
}

function degreeOf(cell: CellView | null): number | null {
  const isText = cell?.type === "literal" && /^\s*[+-]?\d{1,3}(\.\d+)?\s*$/.test(cell.value);
  return numberOf(cell) ?? (isText ? Number(cell.value) : null);
}

function kindOf(name: string, cells: readonly (CellView | null)[]): Kind {
  const kinds = new Set(cells.filter((cell) => cell !== null).map((cell) => kindOfCell(cell)));
  if (kinds.size === 0) return "empty";
  if (kinds.size > 1)
    return kinds.has("picture") && kinds.has("thing") && kinds.size === 2 ? "thing" : "mixed";
  const [kind] = kinds;
  const areYears = cells.every((cell) => cell === null || /^-?\d{1,4}$/.test(cell.value));
  return kind === "number" && YEAR_NAME.test(name) && areYears ? "time" : (kind ?? "mixed");
}

function kindOfCell(cell: CellView): Kind {
  if (pictureOf(cell)) return "picture";
  if (cell.type !== "literal") return "thing";
  if (numberOf(cell) !== null) return "number";
  if (momentOf(cell)) return "time";
  if (placeOf(cell)) return "place";
  return cell.datatype?.endsWith("#boolean") ? "boolean" : "text";
}

export function titlesOf(columns: readonly Column[]): string[] {
  return columns.map(({ title }) => title);
}

/** The classes of a column's cells. */
export function classOf(column: Column): string {
  return column.answers ? column.kind : `${column.kind} context`;
}

/** What is new about a cell: that its row is, if `was` is null, or what stood there before. */
export function markText(
  row: Row,
  was: Row | null | undefined,
  { index }: Column,
  isFirst: boolean,
): string {
  if (was === undefined || (was && index >= was.length)) return "";
  if (was === null) return isFirst ? say.isNew : "";
  const textIn = (cells: Row) => {
    const cell = cells[index];
    return cell ? textOf(cell, locale.value) : say.unbound;
  };
  return textIn(row) === textIn(was) ? "" : say.was(textIn(was));
}

// Headings of columns: the graph's names for the things that variables stand for.

const COUNTED = "number of ";

/** The heading of a variable; `labels` (by IRI) are those of the query's terms, then of its rows. */
export function headingOf(name: string, labels: Readonly<Record<string, string>> = {}): string {
  const plain = wordsOf(name);
  const isCount = plain.startsWith(COUNTED) && plain.length > COUNTED.length;
  const named = isCount ? plain.slice(COUNTED.length) : plain;
  const iri = Object.keys(labels).find((one) => wordsOf(shortName(one)) === named);
  const label = (iri && labels[iri]) || COMPUTED[named]?.() || named;
  const isSaid = label.toLowerCase().startsWith(COUNTED); // as "number of berths"
  return stripControls(
    isCount && !isSaid ? say.numberOf(language.value === "en" ? pluralize(label) : label) : label,
  );
}

/** Columns that are called so by no term of a graph: of descriptions, and what was computed. */
const COMPUTED: Readonly<Record<string, () => string>> = {
  property: () => say.property,
  year: () => say.year,
  value: () => say.legendValue,
};

/** A variable's name in words: `dwarfPlanet` and `dwarf_planet` are “dwarf planet”. */
export function wordsOf(name: string): string {
  const words = name.replace(/[_-]+/g, " ").replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2");
  return /\p{Lu}{2}/u.test(words) ? words : words.toLowerCase();
}

// The rows of a result that have a place on Earth.

/** A row with its place and the name that stands beside it. */
export interface Pin {
  readonly row: number;
  readonly place: Place;
  readonly name: string;
  readonly iri: string | null;
}

/** The rows that have a place: a point in well-known text, or a pair of degrees. */
export function pinsOf(columns: readonly Column[], rows: readonly Row[], locale: string): Pin[] {
  const point = columns.find(({ kind }) => kind === "place");
  const degrees = degreesOf(columns, rows);
  if (!point && !degrees) return [];
  const named = columns.filter(
    (column) =>
      (column.kind === "thing" || column.kind === "text" || column.kind === "mixed") &&
      column !== degrees?.latitude &&
      column !== degrees?.longitude,
  );
  return rows.flatMap((row, number) => {
    const at = point ? placeOf(row[point.index] ?? null) : degrees && placeIn(row, degrees);
    if (!at) return [];
    const cell = named.map(({ index }) => row[index]).find((found) => found);
    const name = cell ? textOf(cell, locale) : formatDegrees(at, locale);
    return [{ row: number, place: at, name, iri: cell?.type === "iri" ? cell.value : null }];
  });
}

/** A place in degrees, as “48.1° N, 11.6° E”. */
export function formatDegrees({ latitude, longitude }: Place, locale: string): string {
  const degrees = (value: number, signs: string) => {
    const number = Math.abs(value).toLocaleString(locale, { maximumFractionDigits: 2 });
    return `${number}° ${value < 0 ? signs[1] : signs[0]}`;
  };
  return `${degrees(latitude, "NS")}, ${degrees(longitude, locale.startsWith("de") ? "OW" : "EW")}`;
}
