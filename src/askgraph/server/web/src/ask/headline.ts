// The headline of an answer: a yes, a value, a list of names, or a count.

import type { AnswerView, Cell } from "../api/types.ts";
import { headingOf } from "../results/columns.ts";
import { placeOf } from "../results/values.ts";

export type Headline =
  | { readonly kind: "boolean"; readonly yes: boolean }
  | {
      readonly kind: "value" | "list";
      readonly cells: readonly Cell[];
      /** The heading of each cell, if a value has several. */
      readonly columns?: readonly string[];
    }
  | { readonly kind: "table"; readonly rows: number; readonly more: boolean }
  | { readonly kind: "nothing" };

const LONGEST_LIST = 12;
const LONGEST_TEXT = 160;

/** Returns the headline of an answer, which stands before its table. */
export function headlineOf(answer: AnswerView): Headline {
  if (answer.boolean !== null) return { kind: "boolean", yes: answer.boolean };
  if (answer.total === 0) return { kind: "nothing" };
  const columns = answerColumns(answer);
  const rows = answer.cells.map((row) => columns.map((at) => row[at] ?? null));
  const more = answer.truncated !== null || answer.total > answer.cells.length;
  const isCounted = answer.total > answer.cells.length; // cut off only on its way here
  const cut = answer.truncated !== null && !isCounted;
  const table: Headline = { kind: "table", rows: answer.total, more: cut };
  const cells = rows.flat().filter((cell) => cell !== null);
  if (cells.some((cell) => cell.value.length > LONGEST_TEXT && cell.type !== "iri")) return table;
  if (cells.length > 1 && cells.some((cell) => placeOf(cell))) return table; // the map says it
  if (rows.length === 1 && !more && cells.length > 0 && cells.length <= 3) {
    if (cells.length === 1) return { kind: "value", cells };
    const named = columns.filter((at) => rows[0]?.[columns.indexOf(at)]);
    return {
      kind: "value",
      cells,
      columns: named.map((at) => headingOf(answer.columns[at] ?? "", answer.labels)),
    };
  }
  if (columns.length === 1 && !more && cells.length <= LONGEST_LIST && cells.length > 0) {
    return { kind: "list", cells };
  }
  return table;
}

/** Returns the sentence of an answer in pieces: text, and the things that it names in turn. */
export function piecesOf(answer: AnswerView): readonly (string | Cell)[] {
  const pieces: (string | Cell)[] = [];
  let rest = answer.sentence;
  for (const cell of answer.cells.slice(0, LONGEST_LIST).flat()) {
    const at = cell?.type === "iri" && cell.label ? rest.indexOf(cell.label) : -1;
    if (!cell?.label || at < 0) continue;
    pieces.push(rest.slice(0, at), cell);
    rest = rest.slice(at + cell.label.length);
  }
  return [...pieces, rest];
}

/** Returns the positions of the columns that answer; of all if none is marked. */
function answerColumns(answer: AnswerView): number[] {
  const found = answer.answer_columns
    .map((name) => answer.columns.indexOf(name))
    .filter((at) => at >= 0);
  return found.length > 0 ? found : answer.columns.map((_, at) => at);
}

// Questions that a map answers.

const WHERE =
  /^\P{L}*(where|wo|où|dónde)(?!\p{L})|(?<!\p{L})(map|(land)?karte|carte|mapa)(?!\p{L})/iu;

/** Whether a question is about places, or wants a map, in a language that is asked in. */
export function wantsPlaces(question: string): boolean {
  return WHERE.test(question.normalize("NFC"));
}
