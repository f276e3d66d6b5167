// What there is in a graph: its profile, its things, and the triples behind a row.

import { get, type Options, ofGraph, post, remove, withQuery } from "./http.ts";
import type { Cell, Evidence, GraphSummary } from "./types.ts";

/** A class or a predicate with its names and how often it occurs. */
export interface Term {
  readonly iri: string;
  readonly label: string;
  readonly description?: string | null;
  readonly count: number | null;
  /** Some of its instances, or of its values. */
  readonly examples: readonly Cell[];
}

/** What a graph holds. */
export interface Profile {
  readonly classes: readonly Term[];
  readonly predicates: readonly Term[];
}

/** A predicate of a thing with its values, or with the things that point at it. */
export interface Facts {
  readonly predicate: Cell;
  readonly values: readonly Cell[];
  /** How many there are, of which `values` may hold some. */
  readonly total: number;
  /** Whether there may be more than `total`. */
  readonly at_least: boolean;
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

export interface Instances {
  readonly instances: readonly Cell[];
  readonly total: number;
  readonly at_least: boolean;
}

export interface Hit {
  readonly iri: string;
  readonly label: string;
  readonly description: string | null;
  readonly kind: "entity" | "class" | "property";
  readonly score: number;
}

export const graphOf = (name: string, options: Options = {}) =>
  get<GraphSummary>(ofGraph(name), options);

export const profile = (graph: string, language: string, options: Options = {}) =>
  get<Profile>(withQuery(ofGraph(graph, "/profile"), { language }), options);

export const instances = (
  graph: string,
  wanted: { class: string; offset: number; limit: number; language: string },
  options: Options = {},
) => get<Instances>(withQuery(ofGraph(graph, "/instances"), wanted), options);

export const search = (
  graph: string,
  wanted: { q: string; kind?: string; limit: number; language: string },
  options: Options = {},
) => get<{ hits: readonly Hit[] }>(withQuery(ofGraph(graph, "/search"), wanted), options);

/** What a graph says of a thing and what points at it; with a predicate, a page of its values. */
export const resource = (
  graph: string,
  wanted: { iri: string; language: string; predicate?: string; offset?: number },
  options: Options = {},
) => get<Resource>(withQuery(ofGraph(graph, "/resource"), wanted), options);

/** The triples that put a row into a query's result. */
export const evidenceOf = (graph: string, query: string, row: number, options: Options = {}) =>
  post<Evidence>(ofGraph(graph, "/evidence"), { query, row }, options);

/** Takes a graph that was added on the page away again. */
export const removeGraph = (graph: string) => remove(ofGraph(graph));
