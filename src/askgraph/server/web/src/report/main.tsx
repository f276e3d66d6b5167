// The page of a report: its list, its plots, and the question that the address names.

import { signal } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { index } from "./data.ts";
import { Questions } from "./Questions.tsx";
import { QuestionView } from "./QuestionView.tsx";

declare global {
  function vegaEmbed(place: Element, spec: unknown, options: object): Promise<unknown>;
}

/** The reader's place: `#q/benchmark/id` is a question, anything else a part of the page. */
const address = signal(location.hash);
const body = document.body.classList;
let drawn: Promise<void> | undefined;

function Reading() {
  const question = index.questions.find(({ link }) => link === address.value);
  useEffect(() => {
    if (!question) return showPlots();
    body.add("reading");
    return () => {
      body.remove("reading");
      backTo(question.link);
    };
  }, [question]);
  return question ? <QuestionView key={question.link} question={question} /> : null;
}

/** Returns from a question to its row, if it is in the list. */
function backTo(link: string): void {
  const row = document.querySelector<HTMLElement>(`#rows a[href="${CSS.escape(link)}"]`);
  if (!row || location.hash !== "#questions") return;
  row.scrollIntoView({ block: "center" });
  row.focus({ preventScroll: true });
}

/** Draws the plots once the page is visible, since they take its width. */
function showPlots(): void {
  if (address.value.startsWith("#q/")) location.replace("#questions");
  drawn ??= drawPlots();
  void drawn.then(() => dispatchEvent(new Event("resize")));
}

async function drawPlots(): Promise<void> {
  for (const place of document.querySelectorAll<HTMLElement>("[data-plot]")) {
    const spec = document.getElementById(place.dataset["plot"] ?? "")?.textContent ?? "";
    await vegaEmbed(place, JSON.parse(spec), {
      actions: false,
      ast: true, // expressions are interpreted, so that the page needs no `unsafe-eval`
      defaultStyle: false,
      renderer: "svg",
      tooltip: { disableDefaultStyle: true },
    });
  }
  body.add("drawn");
}

function pressed(event: KeyboardEvent): void {
  const at = event.target as HTMLElement;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName);
  if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== "Escape")) return;
  if (typing) at.blur();
  else if (event.key === "/" && !body.contains("reading")) {
    event.preventDefault();
    document.querySelector<HTMLElement>("#choice [name=text]")?.focus();
  }
  if (typing) return;
  const key = CSS.escape(event.key);
  document.querySelector<HTMLElement>(`#question [data-key="${key}"]`)?.click();
}

addEventListener("hashchange", () => {
  address.value = location.hash;
});
addEventListener("keydown", pressed);
for (const [id, part] of [
  ["questions", <Questions key="questions" />],
  ["question", <Reading key="question" />],
] as const) {
  const place = document.getElementById(id);
  if (place) render(part, place);
}
