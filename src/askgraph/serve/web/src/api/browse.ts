// What there is in a graph: its profile, its things, and the triples behind a row.

import { get, type Options, ofGraph, post, withQuery } from "./http.ts";
import type { Cell, Evidence } from "./types.ts";

/** A predicate of a thing with its values, or with the things that point at it. */
export interface Facts {
  readonly predicate: Cell;
  readonly values: readonly Cell[];
  /** How many there are, of which `values` may hold the first. */
  readonly total: number;
}

/** What a graph says of a thing. */
export interface Resource {
  readonly iri: string;
  readonly label: string;
  readonly description: string | null;
  readonly types: readonly Cell[];
  readonly outgoing: readonly Facts[];
  readonly incoming: readonly Facts[];
}

/** What a graph says of a thing, and what points at it. */
export const aroundThing = (graph: string, iri: string, language: string, options: Options = {}) =>
  get<Resource>(withQuery(ofGraph(graph, "/resource"), { iri, language }), options);

/** The triples that put a row into a query's result. */
export const evidenceOf = (graph: string, query: string, row: number, options: Options = {}) =>
  post<Evidence>(ofGraph(graph, "/evidence"), { query, row }, options);
