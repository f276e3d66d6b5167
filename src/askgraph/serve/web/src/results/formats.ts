// The formats that the server gives a whole result in.

import { withQuery } from "../api/http.ts";

export interface Format {
  /** What the server calls it. */
  readonly key: string;
  readonly name: string;
  readonly ending: string;
  /** Whether it holds triples, not a table. */
  readonly triples: boolean;
}

export const FORMATS: readonly Format[] = [
  { key: "csv", name: "CSV", ending: "csv", triples: false },
  { key: "tsv", name: "TSV", ending: "tsv", triples: false },
  { key: "json", name: "JSON", ending: "json", triples: false },
  { key: "xml", name: "XML", ending: "xml", triples: false },
  { key: "ttl", name: "Turtle", ending: "ttl", triples: true },
  { key: "nt", name: "N-Triples", ending: "nt", triples: true },
];

/** The path below /api/v1 of a run's whole result. */
export function resultPath(run: string, format: Format): string {
  return withQuery(`/runs/${encodeURIComponent(run)}/result`, { format: format.key });
}
