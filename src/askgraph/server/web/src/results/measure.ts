// The sizes of texts in drawings, in the fonts that this reader's browser has for them.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { pixels } from "../app/theme.ts";

/** How high a line of text rises above its base line, and how deep it goes below. */
export interface Line {
  readonly ascent: number;
  readonly descent: number;
}

const rulers = new Map<number, CanvasRenderingContext2D | null>();

/** The width of a text in a drawing, in pixels. */
export function widthOf(text: string, weight = 400): number {
  return measured(text, weight)?.width ?? text.length * 7.2;
}

/** The line of a text in a drawing, in whole pixels. */
export function lineOf(): Line {
  const { fontBoundingBoxAscent: ascent = 12, fontBoundingBoxDescent: descent = 4 } =
    measured("", 400) ?? {};
  return { ascent: Math.ceil(ascent), descent: Math.ceil(descent) };
}

/** The pixels that the longest text takes, with a margin. */
export function measureRoom(texts: readonly string[], margin = 12): number {
  return Math.max(0, ...texts.map((text) => widthOf(text))) + margin;
}

/** Clips a text to a number of pixels. */
export function shortenText(text: string, width: number, weight = 400): string {
  if (widthOf(text, weight) <= width) return text;
  const letters = [...text];
  while (letters.length > 3 && widthOf(`${letters.join("")}…`, weight) > width) letters.pop();
  return `${letters.join("").trimEnd()}…`;
}

function measured(text: string, weight: number): TextMetrics | undefined {
  if (!rulers.has(weight)) {
    const ruler = document.createElement("canvas").getContext("2d");
    const { fontFamily } = getComputedStyle(document.body);
    if (ruler) ruler.font = `${weight} ${pixels("text-s")}px ${fontFamily}`;
    rulers.set(weight, ruler);
  }
  return rulers.get(weight)?.measureText(text);
}

// The width of an element, now and when it changes.

/** A ref to put on an element, and its width in pixels; 0 before it is drawn. */
export function useWidth<E extends Element>(): [RefObject<E | null>, number] {
  const element = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!element.current) return;
    setWidth(element.current.clientWidth);
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.floor(entry.contentRect.width));
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
