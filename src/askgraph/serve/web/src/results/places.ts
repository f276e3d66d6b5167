// Which rows of a result lie somewhere, and where.

import type { Row } from "../api/types.ts";
import { type Column, degreesOf } from "./columns.ts";
import { textOf } from "./texts.ts";
import { checkedPlace, numberOf, type Place, placeOf } from "./values.ts";

/** A row with its place and the name that stands beside it. */
export interface Pin {
  readonly row: number;
  readonly place: Place;
  readonly name: string;
  /** The IRI of the thing that lies there, where there is one. */
  readonly iri: string | null;
}

/** The rows that have a place: a point in well-known text, or a pair of degrees. */
export function pinsOf(columns: readonly Column[], rows: readonly Row[], locale: string): Pin[] {
  const place = placer(columns, rows);
  if (!place) return [];
  const named = columns.filter(
    ({ kind }) => kind === "thing" || kind === "text" || kind === "mixed",
  );
  return rows.flatMap((row, number) => {
    const at = place(row);
    if (!at) return [];
    const cell = named.map(({ index }) => row[index]).find((found) => found);
    const name = cell ? textOf(cell, locale) : degreesText(at, locale);
    return [{ row: number, place: at, name, iri: cell?.type === "iri" ? cell.value : null }];
  });
}

/** A place in degrees, as “48.1° N, 11.6° E”. */
export function degreesText({ latitude, longitude }: Place, locale: string): string {
  const degrees = (value: number, signs: string) => {
    const number = Math.abs(value).toLocaleString(locale, { maximumFractionDigits: 2 });
    return `${number}° ${value < 0 ? signs[1] : signs[0]}`;
  };
  return `${degrees(latitude, "NS")}, ${degrees(longitude, locale.startsWith("de") ? "OW" : "EW")}`;
}

function placer(
  columns: readonly Column[],
  rows: readonly Row[],
): ((row: Row) => Place | null) | null {
  const point = columns.find(({ kind }) => kind === "place");
  if (point) return (row) => placeOf(row[point.index] ?? null);
  const degrees = degreesOf(columns, rows);
  if (!degrees) return null;
  return (row) => {
    const north = numberOf(row[degrees.latitude.index] ?? null);
    const east = numberOf(row[degrees.longitude.index] ?? null);
    return north === null || east === null ? null : checkedPlace(east, north);
  };
}
