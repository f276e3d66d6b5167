// What the server knows of graphs, and queries over them.

import { get, type Options, ofGraph, post, withQuery } from "./http.ts";
import type {
  Completion,
  GraphSummary,
  Me,
  Methods,
  NameHit,
  Parts,
  ServerInfo,
  Swapped,
  TableView,
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

export const searchNames = (graph: string, q: string, kind: string, options: Options = {}) =>
  get<{ hits: NameHit[] }>(withQuery(ofGraph(graph, "/search"), { q, kind, limit: 8 }), options);

export const vocabulary = (graph: string) => get<Vocabulary>(ofGraph(graph, "/vocabulary"));

export const runQuery = (graph: string, query: string, language: string, options: Options = {}) =>
  post<TableView>(ofGraph(graph, "/query"), { query, language }, options);

export const validate = (graph: string, query: string, language: string, options: Options = {}) =>
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
