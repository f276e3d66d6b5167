// Names of methods for people, and a sentence about each.

import type { MethodView } from "../api/types.ts";
import { texts } from "../i18n/index.ts";
import words from "./methods.json";

/** The methods whose names are words, in the order of their titles. */
const WORDS = ["auto", "graph-search", "guided", "multi-stage", "nearest-example", "direct"];
const NAMES: Readonly<Record<string, string>> = {
  dfsl: "DFSL",
  grasp: "GRASP",
  "graf-von-data": "Graf von Data",
  "sparql-llm": "SPARQL-LLM",
};

const say = texts("parts/methods", words);

/** A method's name for people: `graph-search` is "Graph search", "Graphsuche". */
export function methodTitle(name: string): string {
  const spaced = name.replaceAll("-", " ");
  const title = say.titles[WORDS.indexOf(name)] ?? NAMES[name];
  return title ?? spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

/** Describes a method; in the server's words if the page has none. */
export function methodWords(method: { readonly name: string; readonly words: string }): string {
  const known: Readonly<Record<string, unknown>> = say;
  const text = Object.hasOwn(known, method.name) ? known[method.name] : null;
  return typeof text === "string" ? text : method.words;
}

/** Says why a method is not available; null if it is. The server's English text says more. */
export function missingWords({ name, missing, needs_model }: MethodView): string | null {
  if (!missing) return null;
  return say.missing[needs_model ? 0 : name === "nearest-example" ? 1 : 2] ?? missing;
}
