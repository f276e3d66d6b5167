// A board as one HTML file that needs nothing else: no script, no other host, all text as text.

import type { Board, Pin } from "../api/boards.ts";
import { save } from "../api/http.ts";
import type { Row } from "../api/types.ts";
import { graphTitle } from "../app/known.ts";
import { theme } from "../app/theme.ts";
import { cellText, spokenHeadline } from "../ask/HeadlineView.tsx";
import { formatTime, language } from "../i18n/index.ts";
import { dotted } from "../parts/parts.tsx";
import { columnsOf } from "../results/columns.ts";
import { fileName } from "../results/Pictures.tsx";
import { standalone } from "../results/pictures.ts";
import { visible } from "../results/texts.ts";
import { changesIn, countsOf } from "./changes.ts";
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
export function saveBoard(board: Board): void {
  save(
    new Blob([textOf(board)], { type: "text/html" }),
    `${fileName(board.title) || "board"}.html`,
  );
}

function textOf(board: Board): string {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const scheme = theme.value === "system" ? (isDark ? "dark" : "light") : theme.value;
  const title = visible(board.title);
  const body = element(
    "body",
    {},
    element("h1", { dir: "auto" }, title),
    element("p", { class: "small" }, say.exported(formatTime(new Date().toISOString()))),
    ...board.content.map(section),
  );
  // As text, since the page's own policy allows no styles in its documents.
  return `<!doctype html>
<html lang="${language.value}"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width">
${element("title", {}, title).outerHTML}
<style>:root { color-scheme: ${scheme} }${STYLES}</style></head>
${body.outerHTML}</html>
`;
}

function section(pin: Pin): Element {
  const { answer, changes } = pin;
  const card = document.querySelector(`[data-pin="${CSS.escape(pin.id)}"]`);
  const title = visible(pin.title || pin.question);
  const drawing = drawn(card, title);
  const counts = changes ? dotted(...countsOf(changes).map(([, text]) => text)) : "";
  const parts: (Element | string)[] = [
    element("h2", { dir: "auto" }, title),
    element(
      "p",
      { class: "small" },
      dotted(graphTitle(pin.graph), say.asOf(formatTime(pin.checked))),
    ),
    element("p", { class: "said", dir: "auto" }, visible(spokenHeadline(answer))),
  ];
  if (counts)
    parts.push(element("p", { class: "small" }, `${say.since(formatTime(pin.seen))} ${counts}`));
  const lines = changesIn(pin).map(({ kind, row, was }) =>
    element("li", {}, dotted(kind, row), was ? ` (${say.wasCell(was)})` : ""),
  );
  if (lines.length > 0)
    parts.push(
      element("details", {}, element("summary", {}, say.changes), element("ul", {}, ...lines)),
    );
  if (drawing) parts.push(element("figure", {}, drawing));
  parts.push(...factsIn(card));
  if (answer.boolean === null && answer.cells.length > 0) {
    const shown = say.rows(answer.cells.length);
    const some = say.someRows(answer.cells.length, answer.total);
    const heading = answer.total > answer.cells.length ? some : shown;
    const isOpen = drawing || answer.cells.length === 1 ? {} : { open: "" };
    parts.push(element("details", isOpen, element("summary", {}, heading), table(pin)));
  }
  return element("section", {}, ...parts);
}

function table({ answer, changes }: Pin): Element {
  const columns = columnsOf(answer.columns, answer.cells, answer.answer_columns, answer.labels);
  const marks = new Map(changes?.rows.map(({ row, was }) => [row, was as Row | null]));
  const head = columns.map(({ title }) => element("th", { scope: "col" }, title));
  const rows = answer.cells.map((row, at) => {
    const was = marks.get(at);
    const cells = columns.map(({ index, kind }, place) => {
      const text = cellText(row[index] ?? null);
      const before = was && cellText(was[index] ?? null);
      const mark =
        was === null && place === 0
          ? say.newRow
          : typeof before === "string" && before !== text
            ? say.wasCell(before)
            : "";
      const marked = mark ? [" ", element("span", { class: "mark" }, mark)] : [];
      return element("td", kind === "number" ? { class: "number" } : {}, text, ...marked);
    });
    return element("tr", {}, ...cells);
  });
  const whole = element(
    "table",
    {},
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...rows),
  );
  return element("div", { class: "rows" }, whole);
}

/** The chart or the map that a card shows, without what another host would have to send. */
function drawn(card: Element | null, title: string): Element | null {
  const found = card?.querySelector<SVGSVGElement>(".marks svg, .map svg");
  if (!found) return null;
  const { width, height } = found.getBoundingClientRect();
  const parsed = new DOMParser().parseFromString(standalone(found, title), "image/svg+xml");
  const copy = parsed.documentElement;
  for (const image of copy.querySelectorAll("image")) image.remove();
  copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  copy.setAttribute("role", "img");
  copy.setAttribute("aria-label", title);
  return copy;
}

/** The facts of the thing whose card is shown. */
function factsIn(card: Element | null): Element[] {
  const facts = [...(card?.querySelectorAll(".thing-facts > div") ?? [])];
  if (facts.length === 0) return [];
  const pairs = facts.flatMap((fact) => {
    const values = [...(fact.querySelector("dd")?.children ?? [])].map((one) => one.textContent);
    return [
      element("dt", {}, fact.querySelector("dt")?.textContent ?? ""),
      element("dd", {}, values.filter(Boolean).join(", ")),
    ];
  });
  return [element("dl", {}, ...pairs)];
}

function element(
  name: string,
  attributes: Readonly<Record<string, string>>,
  ...content: readonly (Element | string)[]
): Element {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}
