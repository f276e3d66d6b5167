// Requests about graphs, and queries over them.

import type * as api from "../../build/api.ts";
import { language } from "../i18n/index.ts";
import { get, type Options, ofGraph, post, remove, withQuery } from "./http.ts";

export const graphs = () => get<api.GraphsView>(withQuery("/graphs", { language: language.value }));
export const methods = () => get<api.MethodsView>("/methods");
export const me = () => get<api.MeView>("/me");
export const server = () => get<api.ServerView>("/server");

export const starters = (graph: string, language: string, options: Options = {}) =>
  get<api.StartersView>(withQuery(ofGraph(graph, "/starters"), { language }), options);

export const complete = (graph: string, q: string, options: Options = {}) =>
  get<api.CompletionsView>(withQuery(ofGraph(graph, "/complete"), { q, limit: 8 }), options);

export const vocabulary = (graph: string) => get<api.VocabularyView>(ofGraph(graph, "/vocabulary"));

const validate = (graph: string, query: string, language: string, options: Options = {}) =>
  post<api.ValidationView>(ofGraph(graph, "/validate"), { query, language }, options);

export const formatQuery = (graph: string, query: string) =>
  post<{ query: string }>(ofGraph(graph, "/format"), { query });

/** A query in words with its parts; `alternatives` are asked of the graph, which takes longer. */
export const parts = (graph: string, asked: api.PartsBody) =>
  post<api.PartsView>(ofGraph(graph, "/parts"), asked);

export const swap = (graph: string, query: string, part: number, to: string, language: string) =>
  post<api.SwappedView>(ofGraph(graph, "/swap"), { query, part, to, language });

export type Table = api.TableView;

/** The result of a query as it is, without what explains it. */
export const tableOf = (graph: string, query: string) =>
  post<api.TableView>(ofGraph(graph, "/query"), { query });

/** How a query's rows shall be arranged: what is left out stays as it is. */
export type Refinement = Omit<api.RefineBody, "query" | "language">;

/** Returns a query with its rows arranged otherwise; nothing is run. */
export const refine = (graph: string, query: string, wanted: Refinement, language: string) =>
  post<api.RefinedView>(ofGraph(graph, "/refine"), { query, language, ...wanted });

// The contents of a graph: its profile, its things, and the triples behind a row.

export type ClassTerm = api.ClassView;
export type End = api.EndView;
export type PredicateTerm = api.PredicateView;
export type Facts = api.FactsView;
export type Resource = api.ResourceView;
export type Hit = api.HitView;
export type Verified = api.VerifiedOne;

/** The triples behind a row; with names for their IRIs, if they were asked for. */
export type RowEvidence = api.EvidenceView & Partial<api.RowEvidenceView>;

const MOST_TERMS = 1000;

export const graphOf = (name: string, language: string, options: Options = {}) =>
  get<api.GraphSummary>(withQuery(ofGraph(name), { language }), options);

export type Drawn = api.PictureView;

/** The largest classes of a graph, and how they are linked. */
export const pictureOf = (graph: string, language: string, options: Options = {}) =>
  get<Drawn>(withQuery(ofGraph(graph, "/picture"), { language }), options);

/** At most `MOST_TERMS` classes and predicates; with `search`, those whose name or IRI has it. */
export const profile = (
  graph: string,
  wanted: { language: string; search?: string },
  options: Options = {},
) =>
  get<api.ProfileView>(
    withQuery(ofGraph(graph, "/profile"), { ...wanted, limit: MOST_TERMS }),
    options,
  );

export const instances = (
  graph: string,
  wanted: { class: string; offset: number; limit: number; language: string },
  options: Options = {},
) => get<api.InstancesView>(withQuery(ofGraph(graph, "/instances"), wanted), options);

export const search = (
  graph: string,
  wanted: { q: string; kind?: string; limit: number; language?: string },
  options: Options = {},
) => get<api.HitsView>(withQuery(ofGraph(graph, "/search"), wanted), options);

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

/** Says what a word means in a graph, for all who ask it. */
export const teach = (graph: string, entry: api.EntryBody) =>
  post<api.GlossaryView>(ofGraph(graph, "/glossary"), { entries: [entry] });

export type Taught = api.EntryView;

/** What was taught of a graph. */
export const taughtOf = (graph: string, language: string, options: Options = {}) =>
  get<api.GlossaryView>(withQuery(ofGraph(graph, "/glossary"), { language }), options);

/** Takes a word away that was taught. */
export const forget = (graph: string, word: string) =>
  remove(withQuery(ofGraph(graph, "/glossary"), { word }));

/** Takes a graph that was added on the page away again. */
export const removeGraph = (graph: string) => remove(ofGraph(graph));

// Verified answers of a graph: what everybody who asks their questions is answered with.

export const verifiedOf = (graph: string, options: Options = {}) =>
  get<api.VerifiedList>(ofGraph(graph, "/verified"), options);

export const withdrawVerified = (graph: string, id: string) =>
  remove(ofGraph(graph, `/verified/${encodeURIComponent(id)}`));

// The server's findings about a query.

/** The server declares the graph's prefixes itself. */
const DECLARED = "missing prefix";

/** Returns the findings about a query; null if the server cannot look it over now. */
export async function looked(graph: string, query: string): Promise<api.ValidationView | null> {
  if (!query.trim()) return null;
  try {
    const found = await validate(graph, query, language.value);
    return { ...found, findings: found.findings.filter((one) => one.check !== DECLARED) };
  } catch {
    return null;
  }
}
