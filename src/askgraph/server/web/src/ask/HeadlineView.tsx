// The answer first and big: its sentence, else a value, a few names, or how many rows there are.

import type { AnswerView, CellView } from "../api/types.ts";
import { thingAddress } from "../app/router.ts";
import { locale } from "../i18n/index.ts";
import { Named } from "../parts/parts.tsx";
import { headingOf } from "../results/columns.ts";
import { textOf } from "../results/texts.ts";
import { answerColumns, placeOf } from "../results/values.ts";
import { say } from "./words.ts";

const LOOKS = { boolean: "value", nothing: "nothing muted", table: "count" };

export function HeadlineView({ answer, graph }: { answer: AnswerView; graph: string }) {
  if (answer.sentence)
    return (
      <p class="headline said" dir="auto">
        {piecesOf(answer).map((piece, at) =>
          typeof piece === "string" ? piece : <Value key={at} cell={piece} graph={graph} />,
        )}
      </p>
    );
  const headline = headlineOf(answer);
  if (!("cells" in headline))
    return <p class={`headline ${LOOKS[headline.kind]}`}>{spoken(headline)}</p>;
  const [All, Each] = headline.kind === "list" ? (["ul", "li"] as const) : (["p", "span"] as const);
  return (
    <All class={headline.kind === "list" ? "headline names" : "headline value"}>
      {headline.cells.map((cell, at) => (
        <Each key={at}>
          {headline.columns && <bdi class="headline-of">{headline.columns[at]} </bdi>}
          <Value cell={cell} graph={graph} />
        </Each>
      ))}
    </All>
  );
}

/** Returns the headline as one text for screen readers. */
export function speakHeadline(answer: AnswerView): string {
  return answer.sentence || spoken(headlineOf(answer));
}

function spoken(headline: Headline): string {
  switch (headline.kind) {
    case "boolean":
      return headline.yes ? say.yes : say.no;
    case "nothing":
      return say.nothing;
    case "table":
      return headline.more ? say.rowsCut(headline.rows) : say.rows(headline.rows);
    default:
      return headline.cells
        .map((cell, at) => `${headline.columns?.[at] ?? ""} ${formatCell(cell)}`.trim())
        .join(", ");
  }
}

function Value({ cell, graph }: { cell: CellView; graph: string }) {
  return (
    <Named href={cell.type === "iri" ? thingAddress(graph, cell.value) : null} title={cell.value}>
      {formatCell(cell)}
    </Named>
  );
}

/** A cell in the page's language: a label, a number with separators, a day in words. */
export function formatCell(cell: CellView | null): string {
  return cell ? textOf(cell, locale.value) : "";
}

// The headline of an answer: a yes, a value, a list of names, or a count.

type Headline =
  | { readonly kind: "boolean"; readonly yes: boolean }
  | {
      readonly kind: "value" | "list";
      readonly cells: readonly CellView[];
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
  const isCounted = answer.total > answer.cells.length; // truncated only by the page's own limit
  const more = answer.truncated !== null || isCounted;
  const table: Headline = { kind: "table", rows: answer.total, more: more && !isCounted };
  const cells = rows.flat().filter((cell) => cell !== null);
  if (cells.some((cell) => cell.value.length > LONGEST_TEXT && cell.type !== "iri")) return table;
  if (cells.length > 1 && cells.some((cell) => placeOf(cell))) return table; // the map says it
  if (rows.length === 1 && !more && cells.length > 0 && cells.length <= 3) {
    if (cells.length === 1) return { kind: "value", cells };
    const named = columns.filter((at) => rows[0]?.[columns.indexOf(at)]);
    const heads = named.map((at) => headingOf(answer.columns[at] ?? "", answer.labels));
    return { kind: "value", cells, columns: heads };
  }
  const isList = columns.length === 1 && !more && cells.length <= LONGEST_LIST && cells.length > 0;
  return isList ? { kind: "list", cells } : table;
}

/** Returns the sentence of an answer in pieces: text, and the things that it names in turn. */
export function piecesOf(answer: AnswerView): readonly (string | CellView)[] {
  const pieces: (string | CellView)[] = [];
  let rest = answer.sentence;
  for (const cell of answer.cells.slice(0, LONGEST_LIST).flat()) {
    const at = cell?.type === "iri" && cell.label ? rest.indexOf(cell.label) : -1;
    if (!cell?.label || at < 0) continue;
    pieces.push(bindNumbers(rest.slice(0, at)), cell);
    rest = rest.slice(at + cell.label.length);
  }
  return [...pieces, bindNumbers(rest)];
}

const AFTER_NUMBER = /(?<=\p{N}) (?=[\p{L}×°%])|(?<=\p{N} (?:of|von|sur|de|×)) (?=\p{N})/gu;

/** Keeps numbers on one line with their units and with what they are a part of: “4 of 42”. */
function bindNumbers(text: string): string {
  return text.replace(AFTER_NUMBER, "\u00a0");
}

// Questions that a map answers.

const WHERE =
  /^\P{L}*(where|wo|où|dónde)(?!\p{L})|(?<!\p{L})(map|(land)?karte|carte|mapa)(?!\p{L})/iu;

/** Whether a question is about places, or wants a map, in a language that is asked in. */
export function wantsPlaces(question: string): boolean {
  return WHERE.test(question.normalize("NFC"));
}
