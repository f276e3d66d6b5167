// Places of the things of a result, which the graph has and the result lacks.

import { tableOf } from "../api/graphs.ts";
import type { CellView, Row, TableView } from "../api/types.ts";
import { type Column, columnsOf, type Pin, pairsOf, pinsOf } from "./columns.ts";
import { shortName, textOf } from "./texts.ts";
import type { Place } from "./values.ts";

/** With more things than this, no places are loaded. */
const MOST = 5000;
/** Things that one query asks for. */
const BATCH = 500;

const PREFIXES = `PREFIX geo: <http://www.opengis.net/ont/geosparql#>
PREFIX schema: <http://schema.org/>
PREFIX schemas: <https://schema.org/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>`;

/** Degrees in one text, the latitude first. */
const DEGREES = "^\\s*([+-]?\\d{1,2}\\.\\d+)\\s*[,; ]\\s*([+-]?\\d{1,3}\\.\\d+)\\s*$";

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

/**
 * The places of things: points in well-known text, of them or of their geometry, and degrees, as
 * two values of predicates that are called so in a language of `columns.ts`, or in one text.
 */
export async function placesOf(graph: string, things: readonly string[]): Promise<Known> {
  const starts = Array.from({ length: Math.ceil(things.length / BATCH) }, (_, at) => at * BATCH);
  const found = await Promise.all(
    starts.map((at) => pinsOfThings(graph, things.slice(at, at + BATCH))),
  );
  return new Map(found.flat().flatMap(({ iri, place }) => (iri ? [[iri, place] as const] : [])));
}

async function pinsOfThings(graph: string, things: readonly string[]): Promise<Pin[]> {
  const given = `VALUES ?thing { ${things.map((one) => `<${one}>`).join(" ")} }`;
  const asked = (pattern: string) =>
    tableOf(graph, `${PREFIXES}\nSELECT DISTINCT ${pattern} LIMIT ${2 * BATCH}`);
  const [points, said] = await Promise.all([
    asked(`?thing ?point ?lat ?long WHERE {\n  ${given}\n  ${POINTS}\n}`),
    asked(`?says ?name WHERE {\n  ${given}\n  ${LITERALS}\n}`),
  ]);
  const found = pins(points);
  for (const [north, east] of degreesIn(said)) {
    const pattern = `?thing <${north}> ?lat ; <${east}> ?long`;
    found.push(...pins(await asked(`?thing ?lat ?long WHERE { ${given} ${pattern} }`)));
  }
  return found;
}

/** The pairs of predicates that are called latitude and longitude, by their IRIs or their names. */
export function degreesIn({ cells }: Pick<TableView, "cells">): [string, string][] {
  const names = new Map<string, string[]>();
  for (const [says, name] of cells) {
    if (!says) continue;
    const known = names.get(says.value) ?? [shortName(says.value)];
    names.set(says.value, name ? [...known, name.value] : known);
  }
  return pairsOf([...names.keys()], (iri) => names.get(iri) ?? []);
}

export type Known = ReadonlyMap<string, Place>;

/** The rows whose thing has a known place. */
export function pinsAt(
  known: Known,
  columns: readonly Column[],
  rows: readonly Row[],
  locale: string,
): Pin[] {
  const column = columns.find(({ kind, answers }) => kind === "thing" && answers);
  return rows.flatMap((row, number) => {
    const cell = column && row[column.index];
    const place = cell && known.get(cell.value);
    return place ? [{ row: number, place, name: textOf(cell, locale), iri: cell.value }] : [];
  });
}

function pins({ columns, cells }: TableView): Pin[] {
  return [
    ["thing", "point"],
    ["thing", "lat", "long"],
  ].flatMap((names) => {
    const places = names.map((one) => columns.indexOf(one));
    const rows = cells
      .map((row) => places.map((at) => parsePoint(row[at] ?? null)))
      .filter((row) => row.every((cell) => cell !== null));
    return pinsOf(columnsOf(names, rows, []), rows, "en");
  });
}

/** Degrees in one text as the point that they are. */
function parsePoint(cell: CellView | null): CellView | null {
  const found = cell && new RegExp(DEGREES).exec(cell.value);
  return found ? { type: "literal", value: `POINT(${found[2]} ${found[1]})` } : cell;
}

const POINTS = [
  "{ ?thing ?says ?point . FILTER(DATATYPE(?point) = geo:wktLiteral) }",
  `{ ?thing ?says ?point . FILTER(ISLITERAL(?point) && REGEX(STR(?point), ${JSON.stringify(DEGREES)})) }`,
  "{ ?thing geo:hasGeometry|geo:defaultGeometry ?at . ?at geo:asWKT ?point }",
  ...["schema", "schemas"].map(
    (one) => `{ ?thing ${one}:geo ?at . ?at ${one}:latitude ?lat ; ${one}:longitude ?long }`,
  ),
].join("\n  UNION ");
const LITERALS = `?thing ?says ?value . FILTER(ISLITERAL(?value))
  OPTIONAL { ?says rdfs:label ?name }`;
