// What is wrong with a query, as the server sees it.

import { validate } from "../api/graphs.ts";
import type { Validation } from "../api/types.ts";
import { language } from "../i18n/index.ts";

/** The server declares the graph's prefixes itself. */
const DECLARED = "missing prefix";

/** What is to be said of a query; null where the server cannot look it over now. */
export async function looked(graph: string, query: string): Promise<Validation | null> {
  if (!query.trim()) return null;
  try {
    const found = await validate(graph, query, language.value);
    return { ...found, findings: found.findings.filter((one) => one.check !== DECLARED) };
  } catch {
    return null;
  }
}
