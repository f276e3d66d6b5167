// A cell of a result: its label or value, the IRI behind it, links in and out.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CellView as CellOf } from "../api/types.ts";
import { thingAddress } from "../app/router.ts";
import { onEscape } from "../app/shortcuts.ts";
import { language, locale } from "../i18n/index.ts";
import { IriTools, Named, OUTSIDE } from "../parts/parts.tsx";
import { stripControls, textOf } from "./texts.ts";
import { linkOf, numberOf, pictureOf } from "./values.ts";
import { say } from "./words.ts";

interface Props {
  readonly cell: CellOf | null;
  readonly graph: string;
  readonly iris?: boolean;
  readonly pictures?: boolean;
}

/** A cell; a value of the graph is text, whatever it looks like. */
export function Cell({ cell, graph, iris = false, pictures = false }: Props) {
  if (!cell) return <span class="unbound" title={say.unbound} />;
  const picture = pictureOf(cell);
  if (picture && pictures) return <Picture address={picture} cell={cell} />;
  if (cell.type === "iri") return <Thing cell={cell} graph={graph} iris={iris} />;
  return <Value cell={cell} />;
}

function Thing({ cell, graph, iris }: { cell: CellOf; graph: string; iris: boolean }) {
  const [near, setNear] = useState(false);
  const text = textOf(cell, locale.value);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: its link has the focus, the card follows
    <span
      class="thing"
      onMouseEnter={() => setNear(true)}
      onMouseLeave={() => setNear(false)}
      onFocusIn={() => setNear(true)}
      onFocusOut={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setNear(false);
      }}
    >
      <Named href={thingAddress(graph, cell.value)}>{text}</Named>
      {iris && text !== cell.value && <bdi class="iri">{cell.value}</bdi>}
      {near && <IriCard iri={cell.value} close={() => setNear(false)} />}
    </span>
  );
}

/** The IRI of a thing with tools for it, beside the thing where nothing else stands. */
function IriCard({ iri, close }: { iri: string; close: () => void }) {
  const element = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    if (element.current) place(element.current);
  }, []);
  useEffect(
    () =>
      onEscape(() => {
        const card = element.current;
        if (card?.contains(document.activeElement)) card.parentElement?.querySelector("a")?.focus();
        close();
        return true;
      }),
    [],
  );
  return (
    <span class="iri-card raised row nowrap tight" ref={element}>
      <bdi class="iri clip">{stripControls(iri)}</bdi>
      <IriTools iri={iri} link={linkOf(iri)} />
    </span>
  );
}

/** With less room than this, the tools are shown without the IRI. */
const LEAST = 180;
const EDGE = 8;

/** Puts a card after its thing, or below or above it, with as much of the IRI as there is room for. */
function place(card: HTMLElement): void {
  const thing = card.parentElement?.firstElementChild;
  if (!thing) return;
  const [line = thing.getBoundingClientRect()] = [...thing.getClientRects()].reverse();
  const { width, height } = card.getBoundingClientRect();
  const texts = textsNear(card);
  const start = Math.max(EDGE, line.left);
  const spots = [
    { left: line.right, top: (line.top + line.bottom - height) / 2 },
    { left: start, top: line.bottom },
    { left: start, top: line.top - height },
  ].filter(({ top }) => top >= 0 && top + height <= window.innerHeight);
  const free = spots.map((spot) => ({ ...spot, room: roomAt(spot, height, texts) }));
  const best =
    free.find(({ room }) => room >= width) ??
    free.reduce((one, other) => (other.room > one.room ? other : one));
  const isBare = best.room < Math.min(width, LEAST);
  card.classList.toggle("bare", isBare);
  if (!isBare) card.style.maxInlineSize = `${best.room}px`;
  const least = document.documentElement.clientWidth - card.offsetWidth - EDGE;
  card.style.left = `${Math.min(best.left, least)}px`;
  card.style.top = `${best.top}px`;
}

/** The boxes of the texts around a card. */
function textsNear(card: HTMLElement): DOMRect[] {
  const around = card.closest("table, dl, main") ?? document.body;
  const walk = document.createTreeWalker(around, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const boxes: DOMRect[] = [];
  while (walk.nextNode()) {
    if (card.contains(walk.currentNode)) continue;
    range.selectNodeContents(walk.currentNode);
    boxes.push(...range.getClientRects());
  }
  return boxes;
}

type Corner = Pick<DOMRect, "left" | "top">;

/** The pixels from a spot to the next text on its right, or to the window's edge. */
function roomAt({ left, top }: Corner, height: number, texts: readonly DOMRect[]): number {
  const ends = texts
    .filter((box) => box.right > left + 1 && box.top < top + height - 1 && box.bottom > top + 1)
    .map((box) => box.left);
  return Math.min(document.documentElement.clientWidth, ...ends) - left - EDGE;
}

function Value({ cell }: { cell: CellOf }) {
  const text = textOf(cell, locale.value);
  const link = linkOf(cell.value);
  const isNumber = numberOf(cell) !== null;
  if (link && cell.datatype?.endsWith("#anyURI")) {
    return (
      <a href={link} {...OUTSIDE}>
        <bdi>{text}</bdi>
      </a>
    );
  }
  return (
    <span
      class={isNumber ? "number" : "value"}
      title={text === cell.value ? undefined : cell.value}
    >
      <bdi lang={cell.language ?? undefined}>
        <LongText text={text} />
      </bdi>
      {cell.language && cell.language !== language.value && (
        <span class="tag" title={say.language(cell.language)}>
          {cell.language}
        </span>
      )}
    </span>
  );
}

const LONGEST = 2000; // letters of a text that is not folded
const START = 300;

/** A text; of a very long one the start, and the rest on demand. */
export function LongText({ text }: { text: string }) {
  if (text.length <= LONGEST) return <>{text}</>;
  return (
    <details>
      <summary>{text.slice(0, START)}…</summary>
      {text.slice(START)}
    </details>
  );
}

function Picture({ address, cell }: { address: string; cell: CellOf }) {
  return (
    <a class="picture" href={address} {...OUTSIDE}>
      <img
        src={address}
        alt={say.picture(textOf(cell, locale.value))}
        loading="lazy"
        referrerpolicy="no-referrer"
      />
    </a>
  );
}
