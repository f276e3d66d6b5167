// Exports a board as a standalone HTML file: no script, no other host, all text escaped.

import { render } from "preact";
import { save } from "../api/http.ts";
import type { BoardView, PinView, Row } from "../api/types.ts";
import { graphTitle } from "../app/known.ts";
import { theme } from "../app/theme.ts";
import { formatCell, speakHeadline } from "../ask/HeadlineView.tsx";
import { formatTime, language } from "../i18n/index.ts";
import { joinWithDots } from "../parts/parts.tsx";
import { columnsOf, markText } from "../results/columns.ts";
import { fileName, toStandaloneSvg } from "../results/Pictures.tsx";
import { stripControls } from "../results/texts.ts";
import { countChanges, listChanges } from "./changes.ts";
import { say } from "./words.ts";

const POLICY = "default-src 'none'; style-src 'unsafe-inline'";
const STYLES = `
body { max-width: 52rem; margin: 2rem auto; padding: 0 1rem; font: 1rem / 1.5 system-ui, sans-serif;
  color: light-dark(#1c2126, #e9eaea); background: light-dark(#faf9f6, #14171a); }
h1, h2 { line-height: 1.25; overflow-wrap: anywhere; }
section { margin-block: 2.5rem; }
.said { font-size: 1.125rem; overflow-wrap: anywhere; }
.small { font-size: 0.8125rem; color: light-dark(#4b535b, #b6bdc3); }
svg { max-width: 100%; height: auto; }
.rows { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9375rem; }
th, td { padding: 0.375rem 0.75rem; border-bottom: 1px solid light-dark(#e4e1d9, #2d3338);
  text-align: start; vertical-align: top; overflow-wrap: anywhere; }
.number { text-align: end; font-variant-numeric: tabular-nums; }
.mark { color: light-dark(#2b6f3e, #7fcb92); font-size: 0.8125rem; }
dt { font-weight: 600; }
dd { margin: 0 0 0.5rem; }
`;

/** Saves a board as a file; charts and maps are those that the page shows. */
export function saveBoard(board: BoardView): void {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const scheme = theme.value === "system" ? (isDark ? "dark" : "light") : theme.value;
  const title = document.createElement("title");
  title.textContent = stripControls(board.title);
  const body = document.createElement("body");
  render(<Board board={board} />, body);
  // As text, since the page's own policy allows no styles in its documents.
  const text = `<!doctype html>
<html lang="${language.value}"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width">
${title.outerHTML}
<style>:root { color-scheme: ${scheme} }${STYLES}</style></head>
${body.outerHTML}</html>
`;
  save(new Blob([text], { type: "text/html" }), `${fileName(board.title) || "board"}.html`);
}

function Board({ board }: { board: BoardView }) {
  return (
    <>
      <h1 dir="auto">{stripControls(board.title)}</h1>
      <p class="small">{say.exported(formatTime(new Date().toISOString()))}</p>
      {board.content.map((pin) => (
        <Section key={pin.id} pin={pin} />
      ))}
    </>
  );
}

function Section({ pin }: { pin: PinView }) {
  const { answer, changes } = pin;
  const card = document.querySelector(`[data-pin="${CSS.escape(pin.id)}"]`);
  const title = stripControls(pin.title || pin.question);
  const drawing = drawingIn(card, title);
  const counts = changes ? joinWithDots(...countChanges(changes).map(([, text]) => text)) : "";
  const lines = listChanges(pin);
  const facts = [...(card?.querySelectorAll(".thing-facts > div") ?? [])];
  const shown = answer.cells.length;
  return (
    <section>
      <h2 dir="auto">{title}</h2>
      <p class="small">{joinWithDots(graphTitle(pin.graph), say.asOf(formatTime(pin.checked)))}</p>
      <p class="said" dir="auto">
        {stripControls(speakHeadline(answer))}
      </p>
      {counts && (
        <p class="small">
          {say.since(formatTime(pin.seen))} {counts}
        </p>
      )}
      {lines.length > 0 && (
        <details>
          <summary>{say.changes}</summary>
          <ul>
            {lines.map(({ kind, row, was }, at) => (
              <li key={at}>{`${joinWithDots(kind, row)}${was && ` (${say.wasCell(was)})`}`}</li>
            ))}
          </ul>
        </details>
      )}
      {drawing && <figure ref={(figure) => figure?.replaceChildren(drawing)} />}
      {facts.length > 0 && <dl>{facts.map(factOf)}</dl>}
      {answer.boolean === null && shown > 0 && (
        <details open={!drawing && shown > 1}>
          <summary>
            {answer.total > shown ? say.someRows(shown, answer.total) : say.rows(shown)}
          </summary>
          <Table pin={pin} />
        </details>
      )}
    </section>
  );
}

/** A fact of the thing whose card is shown. */
function factOf(fact: Element, at: number) {
  const values = [...(fact.querySelector("dd")?.children ?? [])].map((one) => one.textContent);
  return (
    <div key={at}>
      <dt>{fact.querySelector("dt")?.textContent}</dt>
      <dd>{values.filter(Boolean).join(", ")}</dd>
    </div>
  );
}

function Table({ pin: { answer, changes } }: { pin: PinView }) {
  const columns = columnsOf(answer.columns, answer.cells, answer.answer_columns, answer.labels);
  const marks = new Map(changes?.rows.map(({ row, was }) => [row, was as Row | null]));
  return (
    <div class="rows">
      <table>
        <thead>
          <tr>
            {columns.map(({ index, title }) => (
              <th key={index} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {answer.cells.map((row, number) => (
            <tr key={number}>
              {columns.map((column, place) => {
                const mark = markText(row, marks.get(number), column, place === 0);
                return (
                  <td key={column.index} class={column.kind === "number" ? "number" : undefined}>
                    {formatCell(row[column.index] ?? null)}{" "}
                    {mark && <span class="mark">{mark}</span>}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The chart or map of a card, without content of other hosts. */
function drawingIn(card: Element | null, title: string): Element | null {
  const found = card?.querySelector<SVGSVGElement>(".marks svg, .map svg");
  if (!found) return null;
  const { width, height } = found.getBoundingClientRect();
  const parsed = new DOMParser().parseFromString(toStandaloneSvg(found, title), "image/svg+xml");
  const copy = parsed.documentElement;
  for (const image of copy.querySelectorAll("image")) image.remove();
  copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copy.setAttribute("role", "img");
  copy.setAttribute("aria-label", title);
  return copy;
}
