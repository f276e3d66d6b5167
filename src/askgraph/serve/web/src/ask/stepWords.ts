// Steps of a run, each in a line.

import type { Step } from "../api/types.ts";
import { formatNumber, texts } from "../i18n/index.ts";

export const stepSay = texts({
  found: [
    (names: string) => `Found in the question: ${names}`,
    (names: string) => `In der Frage gefunden: ${names}`,
  ],
  foundNothing: [
    "Looked for names of the graph in the question",
    "In der Frage nach Namen des Graphen gesucht",
  ],
  draft: ["A query was considered", "Eine Anfrage wurde erwogen"],
  draftAs: [(read: string) => `Considered: ${read}`, (read: string) => `Erwogen: ${read}`],
  prompt: [
    (purpose: string) => `The language model is told: ${purpose}`,
    (purpose: string) => `Dem Sprachmodell wird gesagt: ${purpose}`,
  ],
  turn: ["The language model answered", "Das Sprachmodell hat geantwortet"],
  turnCalls: [
    (count: number) =>
      count === 1 ? "The language model calls a tool" : `The language model calls ${count} tools`,
    (count: number) =>
      count === 1
        ? "Das Sprachmodell ruft ein Werkzeug auf"
        : `Das Sprachmodell ruft ${count} Werkzeuge auf`,
  ],
  tool: [(name: string) => `Tool: ${name}`, (name: string) => `Werkzeug: ${name}`],
  toolFailed: [
    (name: string) => `Tool: ${name}, without success`,
    (name: string) => `Werkzeug: ${name}, ohne Erfolg`,
  ],
  other: ["A step", "Ein Schritt"],
  rows: [
    (count: number) => (count === 1 ? "1 row" : `${formatNumber(count)} rows`),
    (count: number) => (count === 1 ? "1 Zeile" : `${formatNumber(count)} Zeilen`),
  ],
  score: ["Score", "Wertung"],
  unused: ["Not used", "Nicht gebraucht"],
  meant: ["taken as", "verstanden als"],
  kinds: [
    ["thing", "class", "property", "value", "operator"],
    ["Ding", "Klasse", "Eigenschaft", "Wert", "Operator"],
  ],
  messages: [
    (count: number) => (count === 1 ? "1 message" : `${count} messages`),
    (count: number) => (count === 1 ? "1 Nachricht" : `${count} Nachrichten`),
  ],
});

const KINDS = ["entity", "class", "predicate", "value", "operator"];
const LONGEST = 140;

/** The word for a kind of mention. */
export function kindWord(kind: string): string {
  return stepSay.kinds[KINDS.indexOf(kind)] ?? kind;
}

/** A step in one line. */
export function stepTitle(step: Step): string {
  switch (step.step) {
    case "findings": {
      const names = [...new Set(step.mentions.map((mention) => mention.label))];
      return names.length > 0 ? stepSay.found(clipped(names.join(", "))) : stepSay.foundNothing;
    }
    case "draft":
      return step.words ? stepSay.draftAs(clipped(step.words)) : stepSay.draft;
    case "thought":
      return clipped(step.text);
    case "prompt":
      return stepSay.prompt(clipped(step.purpose));
    case "model_turn": {
      const calls = step.choice.calls?.length ?? 0;
      return calls > 0 ? stepSay.turnCalls(calls) : clipped(step.choice.text ?? "") || stepSay.turn;
    }
    case "tool_use":
      return step.observation.failed ? stepSay.toolFailed(step.tool) : stepSay.tool(step.tool);
    default:
      return stepSay.other;
  }
}

function clipped(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}
