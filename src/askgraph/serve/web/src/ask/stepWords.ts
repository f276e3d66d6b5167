// What a step is called, in a line.

import type { Step } from "../api/types.ts";
import { formatNumber, texts } from "../i18n/index.ts";

const words = texts(
  {
    found: (names: string) => `Found in the question: ${names}`,
    foundNothing: "Looked for names of the graph in the question",
    draft: "A query was considered",
    draftAs: (read: string) => `Considered: ${read}`,
    thought: (text: string) => text,
    prompt: (purpose: string) => `The language model is told: ${purpose}`,
    turn: "The language model answered",
    turnCalls: (count: number) =>
      count === 1 ? "The language model calls a tool" : `The language model calls ${count} tools`,
    tool: (name: string) => `Tool: ${name}`,
    toolFailed: (name: string) => `Tool: ${name}, without success`,
    other: "A step",
    rows: (count: number) => (count === 1 ? "1 row" : `${formatNumber(count)} rows`),
    score: "Score",
    unused: "Not used",
    meant: "taken as",
    kinds: ["thing", "class", "property", "value", "operator"],
    messages: (count: number) => (count === 1 ? "1 message" : `${count} messages`),
    open: "Open this query",
  },
  {
    found: (names: string) => `In der Frage gefunden: ${names}`,
    foundNothing: "In der Frage nach Namen des Graphen gesucht",
    draft: "Eine Anfrage wurde erwogen",
    draftAs: (read: string) => `Erwogen: ${read}`,
    thought: (text: string) => text,
    prompt: (purpose: string) => `Dem Sprachmodell wird gesagt: ${purpose}`,
    turn: "Das Sprachmodell hat geantwortet",
    turnCalls: (count: number) =>
      count === 1
        ? "Das Sprachmodell ruft ein Werkzeug auf"
        : `Das Sprachmodell ruft ${count} Werkzeuge auf`,
    tool: (name: string) => `Werkzeug: ${name}`,
    toolFailed: (name: string) => `Werkzeug: ${name}, ohne Erfolg`,
    other: "Ein Schritt",
    rows: (count: number) => (count === 1 ? "1 Zeile" : `${formatNumber(count)} Zeilen`),
    score: "Wertung",
    unused: "Nicht gebraucht",
    meant: "verstanden als",
    kinds: ["Ding", "Klasse", "Eigenschaft", "Wert", "Operator"],
    messages: (count: number) => (count === 1 ? "1 Nachricht" : `${count} Nachrichten`),
    open: "Diese Anfrage öffnen",
  },
);

export const stepWords = words;

const KINDS = ["entity", "class", "predicate", "value", "operator"];
const LONGEST = 140;

/** The word for a kind of mention. */
export function kindWord(kind: string): string {
  return words().kinds[KINDS.indexOf(kind)] ?? kind;
}

/** A step in one line. */
export function stepTitle(step: Step): string {
  const say = words();
  switch (step.step) {
    case "findings": {
      const names = [...new Set(step.mentions.map((mention) => mention.label))];
      return names.length > 0 ? say.found(clipped(names.join(", "))) : say.foundNothing;
    }
    case "draft":
      return step.words ? say.draftAs(clipped(step.words)) : say.draft;
    case "thought":
      return clipped(step.text);
    case "prompt":
      return say.prompt(clipped(step.purpose));
    case "model_turn": {
      const calls = step.choice.calls?.length ?? 0;
      return calls > 0 ? say.turnCalls(calls) : clipped(step.choice.text ?? "") || say.turn;
    }
    case "tool_use":
      return step.observation.failed ? say.toolFailed(step.tool) : say.tool(step.tool);
    default:
      return say.other;
  }
}

function clipped(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}
