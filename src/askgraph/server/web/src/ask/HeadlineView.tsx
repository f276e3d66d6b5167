// The answer first and big: its sentence, else a value, a few names, or how many rows there are.

import type { AnswerView, Cell } from "../api/types.ts";
import { thingAddress } from "../app/router.ts";
import { locale } from "../i18n/index.ts";
import { Named } from "../parts/parts.tsx";
import { textOf } from "../results/texts.ts";
import { type Headline, headlineOf, piecesOf } from "./headline.ts";
import { say } from "./words.ts";

const LOOKS = { boolean: "value", nothing: "nothing", table: "count" };

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

/** The headline as one text, for those who hear it. */
export function spokenHeadline(answer: AnswerView): string {
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
        .map((cell, at) => `${headline.columns?.[at] ?? ""} ${cellText(cell)}`.trim())
        .join(", ");
  }
}

function Value({ cell, graph }: { cell: Cell; graph: string }) {
  return (
    <Named href={cell.type === "iri" ? thingAddress(graph, cell.value) : null} title={cell.value}>
      {cellText(cell)}
    </Named>
  );
}

/** A cell in the page's language: a label, a number with separators, a day in words. */
export function cellText(cell: Cell | null): string {
  return cell ? textOf(cell, locale.value) : "";
}
