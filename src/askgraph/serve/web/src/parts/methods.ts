// Names of methods for people, and a sentence about each.

import { texts } from "../i18n/index.ts";
import words from "./methods.json";

const TITLES: Readonly<Record<string, string>> = {
  dfsl: "DFSL",
  grasp: "GRASP",
  "graf-von-data": "Graf von Data",
  "sparql-llm": "SPARQL-LLM",
};

const say = texts(words);

/** A method's name as people write it: `graph-search` is "Graph search". */
export function methodTitle(name: string): string {
  const spaced = name.replaceAll("-", " ");
  return TITLES[name] ?? spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

/** Describes a method; in the server's words if the page has none. */
export function methodWords(method: { readonly name: string; readonly words: string }): string {
  const known: Readonly<Record<string, string>> = say;
  return Object.hasOwn(known, method.name) ? (known[method.name] ?? "") : method.words;
}
