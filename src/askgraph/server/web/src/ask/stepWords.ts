// Steps of a run, each in a line.

import type { Step } from "../api/types.ts";
import { texts } from "../i18n/index.ts";
import words from "./stepWords.json";

export const stepSay = texts("ask/stepWords", words);

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
