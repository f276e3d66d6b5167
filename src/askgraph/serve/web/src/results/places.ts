// Places of the things of a result that the graph knows and the result does not say.

import { type Table, tableOf } from "../api/graphs.ts";
import type { Row } from "../api/types.ts";
import { type Column, columnsOf, type Pin, pinsOf } from "./columns.ts";
import type { Place } from "./values.ts";

/** Of more things than this no places are asked for. */
const MOST = 200;

const PREFIXES = `PREFIX geo: <http://www.opengis.net/ont/geosparql#>
PREFIX wgs: <http://www.w3.org/2003/01/geo/wgs84_pos#>
PREFIX schema: <http://schema.org/>
PREFIX schemas: <https://schema.org/>`;

/** The things of the first column of things, by their IRIs; none if they are one, or too many. */
export function thingsOf(columns: readonly Column[], rows: readonly Row[]): readonly string[] {
  const column = columns.find(({ kind, answers }) => kind === "thing" && answers);
  if (!column) return [];
  const things = new Set<string>();
  for (const row of rows) {
    const cell = row[column.index];
    if (cell?.type === "iri" && !/[<>"{}|^`\\\s]/.test(cell.value)) things.add(cell.value);
  }
  return things.size > 1 && things.size <= MOST ? [...things] : [];
}

/** The places of things: points in well-known text, of them or of their geometry, and degrees. */
export async function placesOf(graph: string, things: readonly string[]): Promise<Known> {
  const known = await tableOf(graph, query(things));
  return new Map(pins(known).flatMap((pin) => (pin.iri ? [[pin.iri, pin.place] as const] : [])));
}

export type Known = ReadonlyMap<string, Place>;

/** The rows whose thing has a known place. */
export function pinsAt(
  known: Known,
  columns: readonly Column[],
  rows: readonly Row[],
  name: (row: Row, at: number) => string,
): Pin[] {
  const column = columns.find(({ kind, answers }) => kind === "thing" && answers);
  return rows.flatMap((row, number) => {
    const iri = column && row[column.index]?.value;
    const place = iri && known.get(iri);
    return column && iri && place
      ? [{ row: number, place, name: name(row, column.index), iri }]
      : [];
  });
}

function pins({ columns, cells }: Table): Pin[] {
  return [
    ["thing", "point"],
    ["thing", "lat", "long"],
  ].flatMap((names) => {
    const places = names.map((one) => columns.indexOf(one));
    const rows = cells
      .map((row) => places.map((at) => row[at] ?? null))
      .filter((row) => row.every((cell) => cell !== null));
    return pinsOf(columnsOf(names, rows, []), rows, "en");
  });
}

function query(things: readonly string[]): string {
  const degrees = ["wgs:lat ?lat ; wgs:long ?long", ...["schema", "schemas"].map(latitude)];
  const near = ["schema", "schemas"].map(
    (one) => `{ ?thing ${one}:geo ?at . ?at ${latitude(one)} }`,
  );
  return `${PREFIXES}
SELECT DISTINCT ?thing ?point ?lat ?long WHERE {
  VALUES ?thing { ${things.map((one) => `<${one}>`).join(" ")} }
  { ?thing ?says ?point . FILTER(DATATYPE(?point) = geo:wktLiteral) }
  UNION { ?thing geo:hasGeometry|geo:defaultGeometry ?at . ?at geo:asWKT ?point }
  ${degrees.map((one) => `UNION { ?thing ${one} }`).join("\n  ")}
  ${near.map((one) => `UNION ${one}`).join("\n  ")}
} LIMIT ${2 * MOST}`;
}

function latitude(prefix: string): string {
  return `${prefix}:latitude ?lat ; ${prefix}:longitude ?long`;
}
