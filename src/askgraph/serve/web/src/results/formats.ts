// The formats that the server gives a whole result in.

import { withQuery } from "../api/http.ts";

export interface Format {
  /** What the server calls it, and how the file's name ends. */
  readonly key: string;
  readonly name: string;
  /** Whether it holds the triples behind the rows. */
  readonly triples: boolean;
}

export const FORMATS: readonly Format[] = [
  { key: "csv", name: "CSV", triples: false },
  { key: "tsv", name: "TSV", triples: false },
  { key: "json", name: "JSON", triples: false },
  { key: "xml", name: "XML", triples: false },
  { key: "ttl", name: "Turtle", triples: true },
  { key: "nt", name: "N-Triples", triples: true },
  { key: "jsonld", name: "JSON-LD", triples: true },
];

/** The path below /api/v1 of a run's whole result. */
export function resultPath(run: string, format: Format): string {
  return withQuery(`/runs/${encodeURIComponent(run)}/result`, { format: format.key });
}
