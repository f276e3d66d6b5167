// What there is in a graph: its profile, its things, and the triples behind a row.

import { get, type Options, ofGraph, post, remove, withQuery } from "./http.ts";
import type { Cell, Evidence, GraphSummary } from "./types.ts";

/** A class as the graph uses it. */
export interface ClassTerm {
  readonly iri: string;
  readonly label: string;
  readonly instances: number;
  readonly parents: readonly string[];
  readonly examples: readonly Cell[];
}

/** A class or datatype at an end of a predicate, and how many triples have it. */
export interface End {
  readonly iri: string;
  readonly label: string;
  readonly count: number;
}

/** A predicate as the graph uses it. */
export interface PredicateTerm {
  readonly iri: string;
  readonly label: string;
  readonly triples: number;
  readonly subjects: number;
  readonly objects: number;
  readonly subject_classes: readonly End[];
  readonly object_classes: readonly End[];
  readonly datatypes: readonly End[];
  readonly example: string | null;
}

/** What a graph holds: its classes and predicates, the most used first. */
export interface Profile {
  readonly classes: readonly ClassTerm[];
  readonly predicates: readonly PredicateTerm[];
  readonly total_classes: number;
  readonly total_predicates: number;
  /** When the graph was read. */
  readonly created: string;
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

/** The triples behind a row, with names for their IRIs. */
export interface RowEvidence extends Evidence {
  readonly labels?: Readonly<Record<string, string>>;
}

const MOST_TERMS = 1000;

export const graphOf = (name: string, options: Options = {}) =>
  get<GraphSummary>(ofGraph(name), options);

/** At most `MOST_TERMS` classes and predicates; with `search`, those whose name or IRI has it. */
export const profile = (
  graph: string,
  wanted: { language: string; search?: string },
  options: Options = {},
) => get<Profile>(withQuery(ofGraph(graph, "/profile"), { ...wanted, limit: MOST_TERMS }), options);

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
export const evidenceOf = (
  graph: string,
  wanted: { query: string; row: number; language: string },
  options: Options = {},
) => post<RowEvidence>(ofGraph(graph, "/evidence"), wanted, options);

/** Takes a graph that was added on the page away again. */
export const removeGraph = (graph: string) => remove(ofGraph(graph));
