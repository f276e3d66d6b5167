// The drawing of things and triples by cytoscape, in the colours of the page.

import cytoscape, {
  type Core,
  type ElementDefinition,
  type LayoutOptions,
  type StylesheetJson,
} from "cytoscape";
import { colour, pixels } from "../app/theme.ts";
import type { Drawing } from "./evidence.ts";
import { lineOf, measureRoom, widthOf } from "./measure.ts";
import type { Spot } from "./projection.ts";

const PADDING = 24;

/** Pixels of a line of a name or a value. */
const WIDEST = 140;

/** Below this zoom a drawing is unreadable. */
const READABLE = 0.8;

/** Draws into an element; `onChoose` gets the clicked thing, `onGrow` a double-clicked one. */
export function createCanvas(
  element: HTMLElement,
  onChoose: (id: string | null) => void,
  onGrow: (id: string) => void,
): Core {
  allowNoStyleElement();
  const core = cytoscape({
    container: element,
    style: buildStyles(),
    minZoom: 0.2,
    maxZoom: 3,
    selectionType: "single",
  });
  // Until the drawing is clicked, the wheel scrolls the page.
  core.userZoomingEnabled(false);
  element.addEventListener("pointerdown", () => core.userZoomingEnabled(true));
  element.addEventListener("pointerleave", () => core.userZoomingEnabled(false));
  core.on("dbltap", "node", (event) => onGrow(event.target.id()));
  core.on("tap", ({ target }) => onChoose(target.isNode?.() ? target.id() : null));
  return core;
}

/** Draws a drawing; existing things keep their positions unless `anew`. */
export function redraw(
  core: Core,
  drawing: Drawing,
  { anew, added }: { anew: boolean; added: ReadonlySet<string> },
): void {
  if (anew) core.elements().remove();
  const before = core.nodes();
  const fresh = elementsOf(drawing, added).filter(({ data }) =>
    core.getElementById(String(data.id)).empty(),
  );
  core.add(fresh);
  if (fresh.length > 0) {
    before.lock();
    core.layout(layoutOf(core, before.empty())).run();
    before.unlock();
  }
  showReadably(core);
}

/** Shows everything if readable, else centres the thing with the most triples. */
function showReadably(core: Core): void {
  fitDrawing(core);
  if (core.zoom() >= READABLE) return;
  core.zoom(READABLE);
  core.center(core.nodes().max((node) => node.degree(false)).ele);
}

/** Around the one thing that most triples are about, else spread by springs; wide as the frame. */
function layoutOf(core: Core, isFirst: boolean): LayoutOptions {
  const hub = core.nodes().max((node) => node.degree(false));
  if (isFirst && hub.value > 4 && hub.value >= 0.8 * core.edges().length) {
    const others = core.nodes().filter((node) => node.id() !== hub.ele.id());
    const ids = others.map((node) => node.id());
    const places = starPlaces(ids, core.width(), core.height()).set(hub.ele.id(), { x: 0, y: 0 });
    return { name: "preset", positions: Object.fromEntries(places), fit: false };
  }
  return {
    name: "cose",
    animate: false,
    fit: false,
    nodeDimensionsIncludeLabels: true,
    idealEdgeLength: () => 90,
    edgeElasticity: () => 60,
    nodeRepulsion: () => 400_000,
    gravity: 0.6,
    numIter: 1500,
    randomize: isFirst,
    ...(isFirst ? { transform: (_, { x, y }) => ({ x: x * 1.5, y }) } : {}),
  };
}

/** Fits everything, without enlarging. */
export function fitDrawing(core: Core): void {
  core.fit(undefined, PADDING);
  if (core.zoom() > 1.2) core.zoom({ level: 1.2, renderedPosition: middleOf(core) });
  core.center();
}

/** Zooms around the middle. */
export function zoomBy(core: Core, factor: number): void {
  core.zoom({ level: core.zoom() * factor, renderedPosition: middleOf(core) });
}

function middleOf(core: Core): Spot {
  return { x: core.width() / 2, y: core.height() / 2 };
}

function elementsOf({ nodes, edges }: Drawing, added: ReadonlySet<string>): ElementDefinition[] {
  return [
    ...nodes.map(({ id, label, kind }) => ({
      group: "nodes" as const,
      data: { id, label: shortenText(label), ...boxOf(shortenText(label)) },
      classes: added.has(id) ? `${kind} added` : kind,
    })),
    ...edges.map(({ id, source, target, label }) => ({
      group: "edges" as const,
      data: { id, source, target, label },
    })),
  ];
}

/** The styles of a drawing, in the colours of the theme that is shown now. */
export function buildStyles(): StylesheetJson {
  const font = getComputedStyle(document.body).fontFamily;
  const line = colour("line-strong");
  const text = { label: "data(label)", "font-family": font };
  return [
    {
      selector: "node",
      style: {
        ...text,
        "font-size": pixels("text-s"),
        color: colour("ink"),
        "text-wrap": "wrap",
        "text-max-width": `${WIDEST}px`,
        "text-overflow-wrap": "anywhere",
        "text-valign": "bottom",
        "text-margin-y": 5,
        width: 22,
        height: 22,
        "background-color": colour("accent"),
        "border-width": 0,
      },
    },
    { selector: "node.class", style: { shape: "diamond", "background-color": colour("series-3") } },
    {
      selector: "node.value",
      style: {
        shape: "round-rectangle",
        "background-color": colour("sheet"),
        ...{ "border-width": 1, "border-color": line },
        ...{ "text-valign": "center", "text-margin-y": 0 },
        ...{ width: "data(width)", height: "data(height)" },
      },
    },
    { selector: "node.added", style: { "background-opacity": 0.55 } },
    {
      selector: "node:selected",
      style: { "border-width": 3, "border-color": colour("series-2") },
    },
    {
      selector: "edge",
      style: {
        ...text,
        "font-size": pixels("text-xs"),
        color: colour("ink-2"),
        "text-background-color": colour("sheet"),
        "text-background-opacity": 0.9,
        "text-background-padding": "2px",
        "text-rotation": "autorotate",
        width: 1.4,
        "line-color": line,
        "curve-style": "bezier",
        "target-arrow-shape": "triangle",
        "target-arrow-color": line,
        "arrow-scale": 0.9,
      },
    },
  ];
}

/** Replaces the style element of cytoscape, which the content policy refuses. */
function allowNoStyleElement(): void {
  const id = "__________cytoscape_stylesheet";
  if (document.getElementById(id)) return;
  const standIn = document.createElement("meta");
  standIn.id = id;
  document.head.append(standIn);
}

/** The room that a text takes in lines as cytoscape breaks them. */
function boxOf(text: string): { width: number; height: number } {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = [...lines.slice(-1), word].join(" ");
    if (lines.length > 0 && widthOf(longer) <= WIDEST) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  const widest = measureRoom(lines, 0);
  const count = lines.length + Math.floor(widest / WIDEST); // a broken word needs more lines
  const { ascent, descent } = lineOf();
  return { width: Math.min(widest, WIDEST) + 14, height: count * (ascent + descent) + 10 };
}

function shortenText(label: string): string {
  return label.length > 60 ? `${[...label].slice(0, 58).join("")}…` : label;
}

// Things around one in the middle, as wide as there is room.

/** With more things than this, there are two rings. */
const ONE_RING = 12;
/** The room for a label beside its thing, and below. */
const MARGIN = { x: 90, y: 40 };

/** A place for each thing around (0, 0) in a frame of this size. */
export function starPlaces(
  ids: readonly string[],
  width: number,
  height: number,
): Map<string, Spot> {
  const [wide, high] = [Math.max(60, width / 2 - MARGIN.x), Math.max(60, height / 2 - MARGIN.y)];
  return new Map(
    ids.map((id, at) => {
      const angle = (2 * Math.PI * at) / ids.length - Math.PI / 2;
      const far = ids.length > ONE_RING && at % 2 === 1 ? 0.6 : 1;
      return [id, { x: wide * far * Math.cos(angle), y: high * far * Math.sin(angle) }];
    }),
  );
}
