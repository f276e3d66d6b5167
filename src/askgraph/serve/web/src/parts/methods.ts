// Names of methods for people, and a sentence about each.

import { texts } from "../i18n/index.ts";

const TITLES: Readonly<Record<string, string>> = {
  dfsl: "DFSL",
  grasp: "GRASP",
  "graf-von-data": "Graf von Data",
  "sparql-llm": "SPARQL-LLM",
};

const say = texts({
  "graph-search": [
    "Finds the question's names in the graph and grows the query over its facts. Quick, free, and always the same.",
    "Findet die Namen der Frage im Graphen und lässt die Anfrage über seine Fakten wachsen. Schnell, kostenlos und immer gleich.",
  ],
  guided: [
    "Graph search proposes queries; a language model chooses one, mends it or writes its own.",
    "Graph search schlägt Anfragen vor; ein Sprachmodell wählt eine, bessert sie aus oder schreibt eine eigene.",
  ],
  grasp: [
    "A language model explores the graph with tools, step by step, before it answers.",
    "Ein Sprachmodell erkundet den Graphen mit Werkzeugen, Schritt für Schritt, bevor es antwortet.",
  ],
  "sparql-llm": [
    "A language model writes the query after examples and the shapes of classes; it is checked and mended.",
    "Ein Sprachmodell schreibt die Anfrage nach Beispielen und den Formen der Klassen; sie wird geprüft und ausgebessert.",
  ],
  dfsl: [
    "A language model writes the query after the most similar answered questions.",
    "Ein Sprachmodell schreibt die Anfrage nach den ähnlichsten beantworteten Fragen.",
  ],
  "multi-stage": [
    "Links names, keeps predicates that meet them, and writes the query with a small model.",
    "Verknüpft Namen, behält Eigenschaften, die dort vorkommen, und schreibt die Anfrage mit einem kleinen Modell.",
  ],
  "graf-von-data": [
    "A language model thinks, looks up and tries queries in plain text, until one is confirmed.",
    "Ein Sprachmodell denkt, schlägt nach und probiert Anfragen als Text, bis eine bestätigt ist.",
  ],
  "nearest-example": [
    "The query of the most similar known question, unchanged. For comparison only.",
    "Die Anfrage der ähnlichsten bekannten Frage, unverändert. Nur zum Vergleich.",
  ],
});

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
