// An answer whose query a person changed: by a part of the sentence, or in the editor.

import type { AnswerView, TableView } from "../api/types.ts";

/** The answer with another query, what it gives, and its words. */
export function edited(
  answer: AnswerView,
  query: string,
  found: TableView,
  words: string,
): AnswerView {
  const kept = answer.answer_columns.filter((name) => found.columns.includes(name));
  const [columns, cells] = found.triples
    ? [["subject", "predicate", "object"], found.triples]
    : [found.columns, found.cells];
  return {
    ...answer,
    status: "answer",
    sparql: query,
    columns,
    cells,
    rows: cells.map((row) => row.map((cell) => cell?.value ?? null)),
    triples: found.triples,
    total: found.triples ? found.triples.length : found.total,
    boolean: found.boolean,
    answer_columns: kept.length > 0 ? kept : columns,
    words,
    interpretation: null,
    evidence: [],
    why_empty: null,
    truncated: found.truncated,
    cut_short: null,
    confirmed: null,
    clarification: null,
    options: [],
    reason: null,
    seconds: found.seconds,
  };
}
