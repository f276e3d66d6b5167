// Requests about graphs, and queries over them; names come in the page's language.

import { language } from "../i18n/index.ts";
import { get, ofGraph, post, remove, withQuery } from "./http.ts";
import type * as api from "./types.ts";

type Values = Readonly<Record<string, string | number | undefined>>;

/** Gets a resource of a graph, in the page's language unless `values` name another. */
function ask<T>(graph: string, rest: string, values: Values = {}, signal?: AbortSignal) {
  return get<T>(withQuery(ofGraph(graph, rest), { language: language.value, ...values }), signal);
}

export const graphs = () => get<api.GraphsView>(withQuery("/graphs", { language: language.value }));
export const methods = () => get<api.MethodsView>("/methods");
export const me = () => get<api.MeView>("/me");
export const server = () => get<api.ServerView>("/server");

export const graphOf = (graph: string, signal: AbortSignal) =>
  ask<api.GraphSummary>(graph, "", {}, signal);

/** Removes a graph that was added on the page. */
export const removeGraph = (graph: string) => remove(ofGraph(graph));

export const starters = (graph: string, signal: AbortSignal) =>
  ask<api.StartersView>(graph, "/starters", {}, signal);

export const complete = (graph: string, q: string, signal?: AbortSignal) =>
  get<api.CompletionsView>(withQuery(ofGraph(graph, "/complete"), { q, limit: 8 }), signal);

export const vocabulary = (graph: string) => get<api.VocabularyView>(ofGraph(graph, "/vocabulary"));

// The contents of a graph: its profile, its things, and the triples behind a row.

const MOST_TERMS = 1000;

/** The largest classes of a graph, and how they are linked. */
export const pictureOf = (graph: string, signal: AbortSignal) =>
  ask<api.DiagramView>(graph, "/picture", {}, signal);

/** At most `MOST_TERMS` classes and predicates; with `search`, those whose name or IRI has it. */
export const profile = (graph: string, search: string, signal: AbortSignal) =>
  ask<api.ProfileView>(graph, "/profile", { search, limit: MOST_TERMS }, signal);

export const instances = (
  graph: string,
  wanted: { class: string; offset: number; limit: number },
  signal: AbortSignal,
) => ask<api.InstancesView>(graph, "/instances", wanted, signal);

export const search = (
  graph: string,
  wanted: { q: string; kind?: string; limit: number },
  signal: AbortSignal,
) => ask<api.SearchHitsView>(graph, "/search", wanted, signal);

/** The facts about a thing, and those that point at it; or a page of one predicate. */
export const resource = (
  graph: string,
  wanted: { iri: string; predicate?: string; offset?: number },
  signal?: AbortSignal,
) => ask<api.ResourceView>(graph, "/resource", wanted, signal);

/** The triples behind a row; with names for their IRIs, if they were asked for. */
export type RowEvidence = api.EvidenceView & Partial<api.RowEvidenceView>;

/** The triples that put a row into a query's result. */
export const evidenceOf = (graph: string, query: string, row: number, signal?: AbortSignal) =>
  post<RowEvidence>(ofGraph(graph, "/evidence"), { query, row, language: language.value }, signal);

// Queries: read, changed and run.

/** A query in words with its parts; `alternatives` need queries, so they take longer. */
export const parts = (graph: string, asked: api.PartsBody) =>
  post<api.PartsView>(ofGraph(graph, "/parts"), asked);

export const swap = (graph: string, query: string, part: number, to: string, language: string) =>
  post<api.SwappedView>(ofGraph(graph, "/swap"), { query, part, to, language });

/** How to arrange a query's rows; omitted fields stay unchanged. */
export type Refinement = Omit<api.RefineBody, "query" | "language">;

/** Returns a query with its rows rearranged, without running it. */
export const refine = (graph: string, query: string, wanted: Refinement, language: string) =>
  post<api.RefinedView>(ofGraph(graph, "/refine"), { query, language, ...wanted });

/** The result of a query, without explanations. */
export const tableOf = (graph: string, query: string) =>
  post<api.TableView>(ofGraph(graph, "/query"), { query, language: language.value });

export const formatQuery = (graph: string, query: string) =>
  post<{ query: string }>(ofGraph(graph, "/format"), { query });

/** The server declares the graph's prefixes itself. */
const DECLARED = "missing prefix";

/** Returns the findings about a query; null if the server cannot check it now. */
export async function checkQuery(graph: string, query: string): Promise<api.ValidationView | null> {
  if (!query.trim()) return null;
  const asked = { query, language: language.value };
  const found = await post<api.ValidationView>(ofGraph(graph, "/validate"), asked).catch(
    () => null,
  );
  return found && { ...found, findings: found.findings.filter((one) => one.check !== DECLARED) };
}

// What people contribute to a graph: meanings of words, and confirmed answers.

/** Teaches a graph the meaning of a word, for everyone who asks it. */
export const teach = (graph: string, entry: api.EntryBody) =>
  post<api.GlossaryView>(ofGraph(graph, "/glossary"), { entries: [entry] });

export const taughtOf = (graph: string, signal: AbortSignal) =>
  ask<api.GlossaryView>(graph, "/glossary", {}, signal);

/** Removes a taught word. */
export const forget = (graph: string, word: string) =>
  remove(withQuery(ofGraph(graph, "/glossary"), { word }));

export const verifiedOf = (graph: string, signal: AbortSignal) =>
  get<api.VerifiedAnswersView>(ofGraph(graph, "/verified"), signal);

export const judgeVerified = (graph: string, id: string, verdict: api.Verdict) =>
  post<api.VerifiedAnswersView>(ofGraph(graph, `/verified/${encodeURIComponent(id)}`), { verdict });
export const withdrawVerified = (graph: string, id: string) =>
  remove(ofGraph(graph, `/verified/${encodeURIComponent(id)}`));
