// One form of results: of an answer, of a query's table, and of triples that a query gave.

import type { AnswerView, Evidence, Row, TableView, Truncated } from "../api/types.ts";
import { say } from "./words.ts";

export interface Result {
  readonly columns: readonly string[];
  readonly cells: readonly Row[];
  /** Rows of the whole result, of which `cells` may hold the first. */
  readonly total: number;
  readonly boolean: boolean | null;
  /** The columns that answer the question; none if they are not known. */
  readonly answering: readonly string[];
  readonly ordered: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly evidence: readonly Evidence[];
  readonly truncated: Truncated | null;
  /** Whether the rows are triples, as CONSTRUCT and DESCRIBE give them. */
  readonly triples: boolean;
}

export type Shown = AnswerView | TableView;

const NOTHING_SAID = { answering: [], ordered: false, labels: {}, evidence: [] };

export function resultOf(view: Shown): Result {
  const { columns, cells, total, boolean, truncated, triples = null } = view;
  const same = { columns, cells, total, boolean, truncated, triples: triples !== null };
  if (triples) {
    const names = [say.subject, say.predicate, say.object];
    return { ...same, ...NOTHING_SAID, columns: names, cells: triples };
  }
  if (!("answer_columns" in view)) return { ...same, ...NOTHING_SAID };
  const { answer_columns: answering, ordered, labels, evidence } = view;
  return { ...same, answering, ordered, labels, evidence };
}

/** The graph, the run and the query that a result comes from. */
export interface Origin {
  readonly graph: string;
  readonly runId: string | null;
  readonly query: string | null;
}
