// The places of things and values in a drawing, by d3-force, and the lines between them.

import type { SimulationNodeDatum } from "d3-force";
import { forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import type { Drawing } from "./evidence.ts";
import { type Spot, writeSpot } from "./projection.ts";

/** Places on a square of side 1, whose middle is the middle of the drawing. */
export type Places = Map<string, Spot>;

/** The pixels of the square's side where springs have their length. */
export const UNIT = 10_000;
/** Pixels from a thing to the end of a line. */
const RADIUS = 9;
/** Pixels that a mark and its name take. */
const HIGH = 30;
const BEND = 26;

interface Body extends SimulationNodeDatum {
  readonly id: string;
  readonly wide: number;
  x: number;
  y: number;
}

/** Places nodes near those they are linked to; the ones that have a place keep it. */
export function placeNodes(
  { nodes, edges }: Drawing,
  before: ReadonlyMap<string, Spot>,
  widthOf: (label: string) => number,
): Places {
  const bodies = nodes.map(({ id, label }, at): Body => {
    const near = edges.find((edge) => edge.source === id || edge.target === id);
    const other = near?.source === id ? near.target : near?.source;
    const [old, start] = [before.get(id), before.get(other ?? "")];
    const [turn, far] = [2.4 * at, start ? 60 : 12 * Math.sqrt(at)];
    const { x, y } = old ?? start ?? { x: 0.5, y: 0.5 };
    const [right, down] = old ? [0, 0] : [far * Math.cos(turn), far * Math.sin(turn)];
    const spot = { x: (x - 0.5) * UNIT + right, y: (y - 0.5) * UNIT + down };
    const body = { id, wide: widthOf(label), ...spot };
    return old ? { ...body, fx: body.x, fy: body.y } : body;
  });
  const ticks = Math.round(Math.max(60, Math.min(300, 90_000 / bodies.length)));
  const links = edges.map(({ source, target }) => ({ source, target }));
  const springs = forceLink<Body, (typeof links)[number]>(links).id(({ id }) => id);
  forceSimulation(bodies)
    .force("links", springs.distance(100))
    .force("apart", forceManyBody().strength(-500).distanceMax(900))
    .force("middle", forceX().strength(0.05))
    .force("flat", forceY().strength(0.13))
    .alphaDecay(1 - 0.001 ** (1 / ticks))
    .stop()
    .tick(ticks);
  for (let pass = 0; pass < Math.min(60, 1e7 / bodies.length ** 2); pass++) separate(bodies);
  return new Map(bodies.map(({ id, x, y }) => [id, { x: 0.5 + x / UNIT, y: 0.5 + y / UNIT }]));
}

/** Moves bodies that overlap apart, in the direction of the shorter move. */
function separate(bodies: readonly Body[]): void {
  bodies.forEach((one, at) => {
    for (let before = 0; before < at; before++) {
      const other = bodies[before] as Body;
      const across = (one.wide + other.wide) / 2 - Math.abs(one.x - other.x);
      const down = HIGH - Math.abs(one.y - other.y);
      if (across <= 0 || down <= 0) continue;
      const [axis, size] = across < down ? (["x", across] as const) : (["y", down] as const);
      const way = one[axis] < other[axis] ? -1 : 1;
      const share = one.fx != null ? 0 : other.fx != null ? 1 : 0.5;
      if (one.fx == null) one[axis] += way * size * share;
      if (other.fx == null) other[axis] -= way * size * (1 - share);
    }
  });
}

/** How far each edge bends, so that several between the same nodes stay apart. */
export function bendsOf({ edges }: Drawing): number[] {
  const counts = new Map<string, number>();
  return edges.map(({ source, target }) => {
    const pair = source < target ? `${source} ${target}` : `${target} ${source}`;
    const count = counts.get(pair) ?? 0;
    counts.set(pair, count + 1);
    const bend = BEND * Math.ceil(count / 2) * (count % 2 === 1 ? 1 : -1);
    return source < target ? bend : -bend;
  });
}

/** The path of a line between two nodes, or from one to itself, and its middle. */
export function lineBetween(from: Spot, to: Spot, bend: number): { path: string; middle: Spot } {
  const [across, down] = [to.x - from.x, to.y - from.y];
  const away = Math.hypot(across, down);
  if (away < 1) {
    const [x, y] = [from.x + 2 * RADIUS, from.y - 4 * RADIUS];
    const path = `M${from.x} ${from.y - RADIUS}Q${x} ${y} ${from.x + RADIUS} ${from.y}`;
    return { path, middle: { x: from.x + 14, y: from.y - 20 } };
  }
  const [right, up] = [across / away, down / away];
  const middle = { x: (from.x + to.x) / 2 - up * bend, y: (from.y + to.y) / 2 + right * bend };
  const control = { x: 2 * middle.x - (from.x + to.x) / 2, y: 2 * middle.y - (from.y + to.y) / 2 };
  const [start, end] = [shift(from, control), shift(to, control)];
  return { path: `M${writeSpot(start)}Q${writeSpot(control)} ${writeSpot(end)}`, middle };
}

/** The spot on the edge of a node towards another spot. */
function shift(from: Spot, to: Spot): Spot {
  const share = RADIUS / Math.max(RADIUS, Math.hypot(to.x - from.x, to.y - from.y));
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}
