// A cell of a result: its label or value, the IRI behind it, links in and out.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Cell as CellOf } from "../api/types.ts";
import { thingAddress } from "../app/router.ts";
import { language, locale } from "../i18n/index.ts";
import { IriTools, Named } from "../parts/parts.tsx";
import { textOf, visible } from "./texts.ts";
import { linkOf, numberOf, pictureOf } from "./values.ts";
import { say } from "./words.ts";

interface Props {
  readonly cell: CellOf | null;
  readonly graph: string;
  /** Whether IRIs stand under their labels all the time. */
  readonly iris?: boolean;
  /** Whether pictures are loaded from where they lie. */
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
      onKeyDown={(event) => {
        if (event.key === "Escape") setNear(false);
      }}
    >
      <Named href={thingAddress(graph, cell.value)}>{text}</Named>
      {iris && text !== cell.value && <bdi class="iri">{cell.value}</bdi>}
      {near && <IriCard iri={cell.value} />}
    </span>
  );
}

/** The IRI of a thing with tools for it; below the thing, and not cut off by a table. */
function IriCard({ iri }: { iri: string }) {
  const element = useRef<HTMLSpanElement>(null);
  useLayoutEffect(() => {
    const card = element.current;
    const beside = card?.parentElement?.getBoundingClientRect();
    if (!card || !beside) return;
    const box = card.getBoundingClientRect();
    const left = Math.min(beside.left, document.documentElement.clientWidth - box.width - 8);
    const below = beside.bottom + box.height < window.innerHeight;
    card.style.left = `${Math.max(8, left)}px`;
    card.style.top = `${below ? beside.bottom : beside.top - box.height}px`;
  }, []);
  return (
    <span class="iri-card" ref={element}>
      <bdi class="iri">{visible(iri)}</bdi>
      <IriTools iri={iri} link={linkOf(iri)} />
    </span>
  );
}

function Value({ cell }: { cell: CellOf }) {
  const text = textOf(cell, locale.value);
  const link = linkOf(cell.value);
  const isNumber = numberOf(cell) !== null;
  if (link && cell.datatype?.endsWith("#anyURI")) {
    return (
      <a href={link} target="_blank" rel="noopener noreferrer nofollow">
        <bdi>{text}</bdi>
      </a>
    );
  }
  return (
    <span
      class={isNumber ? "number" : "value"}
      title={text === cell.value ? undefined : cell.value}
    >
      <bdi lang={cell.language ?? undefined}>{text}</bdi>
      {cell.language && cell.language !== language.value && (
        <span class="tag" title={say.language(cell.language)}>
          {cell.language}
        </span>
      )}
    </span>
  );
}

function Picture({ address, cell }: { address: string; cell: CellOf }) {
  return (
    <a class="picture" href={address} target="_blank" rel="noopener noreferrer nofollow">
      <img
        src={address}
        alt={say.picture(textOf(cell, locale.value))}
        loading="lazy"
        referrerpolicy="no-referrer"
      />
    </a>
  );
}
