// The answer first and big: a yes, a value, a few names, or how many rows there are.

import type { AnswerView, Cell } from "../api/types.ts";
import { thingAddress } from "../app/router.ts";
import { locale } from "../i18n/index.ts";
import { Named } from "../parts/parts.tsx";
import { textOf } from "../results/texts.ts";
import { type Headline, headlineOf } from "./headline.ts";
import { say } from "./words.ts";

export function HeadlineView({ answer, graph }: { answer: AnswerView; graph: string }) {
  const headline = headlineOf(answer);
  switch (headline.kind) {
    case "boolean":
      return <p class="headline value">{headline.yes ? say.yes : say.no}</p>;
    case "nothing":
      return <p class="headline nothing">{say.nothing}</p>;
    case "value":
      return (
        <p class="headline value">
          {headline.cells.map((cell, at) => (
            <span key={at}>
              {headline.columns && <bdi class="headline-of">{headline.columns[at]} </bdi>}
              <Value cell={cell} graph={graph} />
            </span>
          ))}
        </p>
      );
    case "list":
      return (
        <ul class="headline names">
          {headline.cells.map((cell, at) => (
            <li key={at}>
              <Value cell={cell} graph={graph} />
            </li>
          ))}
        </ul>
      );
    case "table":
      return <p class="headline count">{tableWords(headline)}</p>;
  }
}

/** The headline as one text, for those who hear it. */
export function spokenHeadline(answer: AnswerView): string {
  const headline = headlineOf(answer);
  switch (headline.kind) {
    case "boolean":
      return headline.yes ? say.yes : say.no;
    case "nothing":
      return say.nothing;
    case "table":
      return tableWords(headline);
    case "value":
      return headline.cells
        .map((cell, at) => `${headline.columns?.[at] ?? ""} ${cellText(cell)}`.trim())
        .join(", ");
    default:
      return headline.cells.map(cellText).join(", ");
  }
}

function Value({ cell, graph }: { cell: Cell; graph: string }) {
  return (
    <Named href={cell.type === "iri" ? thingAddress(graph, cell.value) : null} title={cell.value}>
      {cellText(cell)}
    </Named>
  );
}

function tableWords(headline: Extract<Headline, { kind: "table" }>): string {
  return headline.more ? say.rowsCut(headline.rows) : say.rows(headline.rows);
}

// Terms of a result as people read them, in the page's language.

/** A cell in the page's language: a label, a number with separators, a day in words. */
export function cellText(cell: Cell | null): string {
  return cell ? textOf(cell, locale.value) : "";
}
