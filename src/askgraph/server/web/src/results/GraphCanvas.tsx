// The drawing of things and triples as SVG, moved and zoomed like a map.

import { useId, useMemo, useRef, useState } from "preact/hooks";
import { ArrowHead, ZoomButtons } from "./controls.tsx";
import type { Drawing, Node } from "./evidence.ts";
import { bendsOf, lineBetween, type Places, placeNodes } from "./forces.ts";
import { areaOf, meet, nameAt, spotsForNames, within } from "./labels.ts";
import { lineOf, shortenText, widthOf } from "./measure.ts";
import { pixelOf, type Size, type Spot } from "./projection.ts";
import { SLACK, usePanning } from "./usePanning.ts";
import { say } from "./words.ts";

/** More nodes than this have a larger frame. */
const MANY = 10;
/** Pixels of a name. */
const LONGEST = 150;
const SHAPES = {
  thing: "M-7 0a7 7 0 1 0 14 0a7 7 0 1 0-14 0",
  class: "M0-9 9 0 0 9-9 0z",
  value: "M-6-6H6V6H-6z",
};

interface CanvasProps {
  readonly drawing: Drawing;
  readonly first: Drawing;
  readonly label: string;
  readonly width: number;
  readonly chosen: string | null;
  readonly onChoose: (id: string | null) => void;
  readonly onGrow: (iri: string) => void;
}

/** The drawing in its frame: a zoom moves marks apart, and more of their names have room. */
export function GraphCanvas({ drawing, first, label, width, chosen, ...on }: CanvasProps) {
  const { nodes, edges } = drawing;
  const arrow = useId();
  const frame = useRef<HTMLDivElement>(null);
  const last = useRef<{ places: Places; first: Drawing } | null>(null);
  const pressed = useRef<{ id: string; x: number; y: number; far: number } | null>(null);
  const [, redraw] = useState(0);
  const [near, setNear] = useState<string | null>(null);
  const places = useMemo(() => {
    const before = last.current?.first === first ? last.current.places : new Map();
    const room = (text: string) => widthOf(shortenText(text, LONGEST)) + 34;
    last.current = { places: placeNodes(drawing, before, room), first };
    return last.current.places;
  }, [drawing]);
  const bends = useMemo(() => bendsOf(drawing), [drawing]);
  const spots = useMemo(() => [...places.values()], [places]);
  const isLarge = nodes.length > MANY;
  const height = Math.round(Math.min(isLarge ? 640 : 448, innerHeight * (isLarge ? 0.8 : 0.65)));
  const size = { width, height };
  const { view, ...panning } = usePanning(frame, spots, size);
  const pixels = (id: string) => pixelOf(places.get(id) ?? { x: 0.5, y: 0.5 }, view, size);
  const focus = near ?? chosen;
  const old = new Set(first.nodes.map(({ id }) => id));
  const linked = neighboursOf(drawing, focus);
  const ranked = useMemo(() => rankNodes(drawing, chosen), [drawing, chosen]);
  const marks = ranked.map((node) => {
    const isLeft = (places.get(node.near)?.x ?? 0) > (places.get(node.id)?.x ?? 0);
    return { ...node, ...pixels(node.id), isLeft };
  });
  const lines = edges.map((edge, at) => ({
    ...edge,
    ...lineBetween(pixels(edge.source), pixels(edge.target), bends[at] ?? 0),
    look: focus === edge.source || focus === edge.target ? "near" : "",
  }));
  const texts = spotTexts(marks, lines, size);
  const idOf = ({ target }: Event) =>
    (target as Element).closest<SVGElement>("[data-node]")?.dataset["node"] ?? null;
  const drag = (event: PointerEvent) => {
    const grip = pressed.current;
    const spot = grip && places.get(grip.id);
    if (!spot || event.buttons === 0) return;
    const [right, down] = [event.clientX - grip.x, event.clientY - grip.y];
    const far = grip.far + Math.hypot(right, down);
    pressed.current = { id: grip.id, x: event.clientX, y: event.clientY, far };
    if (far > SLACK) (event.currentTarget as Element).setPointerCapture(event.pointerId);
    places.set(grip.id, { x: spot.x + right / view.world, y: spot.y + down / view.world });
    redraw((count) => count + 1);
  };
  return (
    <>
      <div
        class="map"
        ref={frame}
        role="application"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes the arrow keys
        tabIndex={0}
        aria-label={`${label}. ${say.mapHelp}`}
        {...panning.handlers}
      >
        <svg
          class={focus === null ? "graph-drawn" : "graph-drawn pointed"}
          {...size}
          aria-hidden="true"
          onPointerDown={(event) => {
            const id = idOf(event);
            pressed.current =
              id === null ? null : { id, x: event.clientX, y: event.clientY, far: 0 };
            if (id !== null) event.stopPropagation();
          }}
          onPointerMove={drag}
          onPointerOver={(event) => setNear(idOf(event))}
          onPointerLeave={() => setNear(null)}
          onClick={(event) => {
            const wasMoved = pressed.current ? pressed.current.far > SLACK : panning.dragged();
            if (!wasMoved) on.onChoose(idOf(event));
          }}
          onDblClick={(event) => {
            const node = nodes.find(({ id }) => id === idOf(event));
            if (node?.iri) on.onGrow(node.iri);
          }}
        >
          <ArrowHead id={arrow} />
          {lines.map(({ id, iri, label, path, look }) => (
            <path key={id} class={look} data-iri={iri} d={path} marker-end={`url(#${arrow})`}>
              <title>{label}</title>
            </path>
          ))}
          {lines.map(({ id, iri, label, look }, at) => {
            const spot = texts.lines[at];
            return (
              spot && (
                <text key={id} class={look} data-iri={iri} {...spot}>
                  {label}
                </text>
              )
            );
          })}
          {marks.map(({ id, kind, label, name, x, y }) => {
            const spot = texts.marks.get(id);
            const state = [!old.has(id) && "added", id === chosen && "chosen"];
            const look = [kind, ...state, linked.has(id) && "near"].filter(Boolean);
            return (
              <g key={id} class={look.join(" ")} data-node={id}>
                <title>{label}</title>
                <path d={SHAPES[kind]} transform={`translate(${x} ${y})`} />
                {spot && <text {...spot}>{name}</text>}
              </g>
            );
          })}
        </svg>
      </div>
      <ZoomButtons zoom={panning.zoom} fit={panning.fit} />
    </>
  );
}

interface Mark extends Node, Spot {
  readonly name: string;
  readonly isLeft: boolean;
}

/** The nodes in the order in which their names get room: near the chosen one, then by their edges. */
function rankNodes(drawing: Drawing, chosen: string | null) {
  const near = neighboursOf(drawing, chosen);
  const joined = new Map<string, string[]>(drawing.nodes.map(({ id }) => [id, []]));
  for (const { source, target } of drawing.edges) {
    joined.get(source)?.push(target);
    joined.get(target)?.push(source);
  }
  return drawing.nodes
    .map((node) => {
      const ids = joined.get(node.id) ?? [];
      const rank = ids.length + (near.has(node.id) ? drawing.edges.length : 0);
      return { ...node, name: shortenText(node.label, LONGEST), near: ids[0] ?? "", rank };
    })
    .sort((one, other) => other.rank - one.rank);
}

/** A node with those that an edge joins with it. */
function neighboursOf({ edges }: Drawing, id: string | null): ReadonlySet<string | null> {
  const joined = edges.filter(({ source, target }) => source === id || target === id);
  return new Set([id, ...joined.flatMap(({ source, target }) => [source, target])]);
}

interface Line {
  readonly label: string;
  readonly middle: Spot;
}

/** Where names of marks, then those of lines have room; null for no room. */
function spotTexts(marks: readonly Mark[], lines: readonly Line[], size: Size) {
  const frame = areaOf(0, 0, size.width, size.height);
  const line = lineOf();
  const buttons = areaOf(size.width - 56, 0, 56, 124);
  const inside = marks
    .filter(({ x, y }) => within(areaOf(x, y, 0, 0), frame))
    .map((mark) => ({ ...mark, wide: widthOf(mark.name) + 4 }));
  const spots = spotsForNames(inside, { ...size, line }, [buttons]);
  const taken = [buttons, ...inside.map(({ x, y }) => areaOf(x - 8, y - 8, 16, 16))];
  const named = new Map(
    inside.flatMap(({ id, wide }, at) => {
      const spot = spots[at];
      if (!spot) return [];
      taken.push(nameAt(spot.x, spot.y, spot.anchor, wide, line)[1]);
      return [[id, { x: spot.x, y: spot.y, "text-anchor": spot.anchor }] as const];
    }),
  );
  const high = line.ascent + line.descent;
  return {
    marks: named,
    lines: lines.map(({ label, middle: { x, y } }) => {
      const wide = widthOf(label) + 4;
      const area = areaOf(x - wide / 2, y - high / 2, wide, high);
      if (!within(area, frame) || taken.some((other) => meet(area, other))) return null;
      taken.push(area);
      return { x, y: y + (line.ascent - line.descent) / 2, "text-anchor": "middle" as const };
    }),
  };
}
