// Requests about graphs, and queries over them.

import { language } from "../i18n/index.ts";
import { get, type Options, ofGraph, post, remove, withQuery } from "./http.ts";
import type {
  AnswerView,
  Cell,
  Completion,
  Evidence,
  GraphSummary,
  Me,
  Methods,
  Parts,
  ServerInfo,
  Swapped,
  Validation,
  Vocabulary,
} from "./types.ts";

export const graphs = () => get<{ graphs: GraphSummary[] }>("/graphs");
export const methods = () => get<Methods>("/methods");
export const me = () => get<Me>("/me");
export const server = () => get<ServerInfo>("/server");

export const starters = (graph: string, language: string, options: Options = {}) =>
  get<{ questions: string[] }>(withQuery(ofGraph(graph, "/starters"), { language }), options);

export const complete = (graph: string, q: string, options: Options = {}) =>
  get<{ completions: Completion[] }>(
    withQuery(ofGraph(graph, "/complete"), { q, limit: 8 }),
    options,
  );

export const vocabulary = (graph: string) => get<Vocabulary>(ofGraph(graph, "/vocabulary"));

/** Runs a query that a person wrote; `columns` answer, if its result has them. */
export const answerOf = (
  graph: string,
  asked: {
    readonly query: string;
    readonly language: string;
    readonly columns: readonly string[];
  },
) => post<AnswerView>(ofGraph(graph, "/answer"), asked);

const validate = (graph: string, query: string, language: string, options: Options = {}) =>
  post<Validation>(ofGraph(graph, "/validate"), { query, language }, options);

export const formatQuery = (graph: string, query: string) =>
  post<{ query: string }>(ofGraph(graph, "/format"), { query });

/** A query in words with its parts; `alternatives` are asked of the graph, which takes longer. */
export const parts = (
  graph: string,
  asked: {
    readonly query: string;
    readonly language: string;
    readonly question?: string;
    readonly alternatives: boolean;
  },
) => post<Parts>(ofGraph(graph, "/parts"), asked);

export const swap = (graph: string, query: string, part: number, to: string, language: string) =>
  post<Swapped>(ofGraph(graph, "/swap"), { query, part, to, language });

// The contents of a graph: its profile, its things, and the triples behind a row.

/** A class as the graph uses it. */
export interface ClassTerm {
  readonly iri: string;
  readonly label: string;
  readonly instances: number;
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

/** The profile of a graph: its classes and predicates, the most used first. */
interface Profile {
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

/** The facts of a graph about a thing. */
export interface Resource {
  readonly iri: string;
  readonly label: string;
  readonly description: string | null;
  readonly types: readonly Cell[];
  readonly outgoing: readonly Facts[];
  readonly incoming: readonly Facts[];
}

interface Instances {
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
  wanted: { q: string; kind?: string; limit: number; language?: string },
  options: Options = {},
) => get<{ hits: readonly Hit[] }>(withQuery(ofGraph(graph, "/search"), wanted), options);

/** Returns the facts about a thing, and those that point at it; or a page of one predicate. */
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

// Verified answers of a graph: what everybody who asks their questions is answered with.

export interface Verified {
  readonly id: string;
  readonly question: string;
  readonly query: string;
  readonly when: string;
  readonly by: string | null;
  readonly run: string | null;
  /** Whether the caller confirmed it. */
  readonly mine: boolean;
}

export const verifiedOf = (graph: string, options: Options = {}) =>
  get<{ verified: readonly Verified[] }>(ofGraph(graph, "/verified"), options);

export const withdrawVerified = (graph: string, id: string) =>
  remove(ofGraph(graph, `/verified/${encodeURIComponent(id)}`));

// The server's findings about a query.

/** The server declares the graph's prefixes itself. */
const DECLARED = "missing prefix";

/** Returns the findings about a query; null if the server cannot look it over now. */
export async function looked(graph: string, query: string): Promise<Validation | null> {
  if (!query.trim()) return null;
  try {
    const found = await validate(graph, query, language.value);
    return { ...found, findings: found.findings.filter((one) => one.check !== DECLARED) };
  } catch {
    return null;
  }
}
