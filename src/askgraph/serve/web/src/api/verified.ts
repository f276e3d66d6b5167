// Verified answers of a graph: what everybody who asks their questions is answered with.

import { get, type Options, ofGraph, remove } from "./http.ts";

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
