// The marks of an answer: a word of its question, and all that it became, share a number.

import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";
import type { PartsView } from "../api/types.ts";

/** The numbers of the terms of a query: of IRIs, and of the texts of values. */
export type Marks = ReadonlyMap<string, number>;

interface Word {
  readonly text: string;
  readonly mark: number | null;
  readonly means: string;
}

export interface MarkedQuestion {
  /** Pieces that join to the question; none if no word of it has a mark. */
  readonly words: readonly Word[];
  readonly marks: Marks;
}

export const UNMARKED: MarkedQuestion = { words: [], marks: new Map() };

/** The kind of line and the colour of each mark. */
export const LOOKS = "solid dashed dotted double wavy solid".split(" ").map((stroke, at) => ({
  "--stroke": stroke,
  "--hue": `var(--${at < 5 ? `series-${at + 1}` : "code-number"})`,
}));

/** Numbers the words of a question that mean a part of its query. */
export function markQuestion({ question, parts }: PartsView): MarkedQuestion {
  const marks = new Map<string, number>();
  let mark = 0;
  const words = question.map((piece) => {
    const meant = parts.filter(({ id }) => piece.parts.includes(id));
    if (meant.length === 0 || mark >= LOOKS.length)
      return { text: piece.text, mark: null, means: "" };
    mark += 1;
    for (const { iri, value } of meant) marks.set(iri ?? value ?? "", mark);
    return { text: piece.text, mark, means: meant.map(({ label }) => label).join(", ") };
  });
  return mark > 0 ? { words, marks } : UNMARKED;
}

const EVENTS = ["pointerover", "pointerleave", "focusin", "focusout", "click"];

/** Marks all elements with the `data-iri` of a term; pointing at a mark lights all others of it. */
export function useMarks(root: RefObject<HTMLElement | null>, marks: Marks): void {
  useEffect(() => {
    const turn = root.current;
    if (!turn || marks.size === 0) return;
    const paint = () => {
      for (const { dataset, style } of turn.querySelectorAll<HTMLElement>("[data-iri]")) {
        const terms = dataset["iri"] ?? "";
        const all = new Set([terms, ...terms.split(" ")]);
        const own = [...all].flatMap((term) => marks.get(term) ?? []);
        if (own.join(" ") === (dataset["mark"] ?? "")) continue;
        dataset["mark"] = own.join(" ");
        for (const [name, value] of Object.entries(LOOKS[(own[0] ?? 0) - 1] ?? {}))
          style.setProperty(name, value);
      }
    };
    const light = (event: Event) => {
      const path = event.type === "focusout" ? [] : event.composedPath();
      const isMark = (at: EventTarget) => at instanceof Element && at.matches("[data-mark]");
      const at = path.find(isMark) ?? turn.querySelector("[data-mark]:focus");
      const lit = (at as HTMLElement | null)?.dataset["mark"]?.split(" ")[0] ?? "";
      for (const { dataset, classList } of turn.querySelectorAll<HTMLElement>("[data-mark]"))
        classList.toggle("lit", lit !== "" && dataset["mark"]?.split(" ").includes(lit));
      // An editor lives in a shadow root: its host carries the number into it.
      for (const { dataset } of turn.querySelectorAll<HTMLElement>(".editor-host"))
        dataset["lit"] = lit;
    };
    paint();
    const stop = new AbortController();
    for (const event of EVENTS) turn.addEventListener(event, light, stop);
    const changes = new MutationObserver(paint);
    changes.observe(turn, { childList: true, subtree: true, attributeFilter: ["data-iri"] });
    return () => {
      stop.abort();
      changes.disconnect();
    };
  }, [marks]);
}
