// Lays out things and links: linked things near each other, without overlaps, and the names of
// links where there is room.

import { type Area, areaOf, meet, within } from "../results/labels.ts";
import { type Spot, writeSpot } from "../results/projection.ts";

export interface Box {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly count: string;
  /** The radius of its circle; its name and count are below. */
  readonly radius: number;
  readonly wide: number;
  readonly below: number;
}

export type Node = Box & Spot;

interface Linked {
  readonly source: string;
  readonly target: string;
  readonly name: string;
  readonly label: string;
  readonly wide: number;
  readonly high: number;
}

export interface Edge extends Omit<Linked, "wide" | "high"> {
  readonly path: string;
  /** The middle of its name; null if there is no room. */
  readonly at: Spot | null;
}

const ROUNDS = 400;
const GAP = 10;
/** Pixels that a loop rises above its circle. */
export const LOOP = 18;
/** Where a name may stand on its line. */
const SHARES = [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74];

/** The things with their places, and the links between them; the first are placed best. */
export function layOut(
  boxes: readonly Box[],
  links: readonly Linked[],
  width: number,
  height: number,
): [Node[], Edge[]] {
  const nodes = boxes.map((box, at) => {
    const turn = (2 * Math.PI * at) / boxes.length;
    const [x, y] = [1 + 0.7 * Math.cos(turn), 1 + 0.7 * Math.sin(turn)];
    return { ...box, x: (width / 2) * x, y: (height / 2) * y };
  });
  const numbers = new Map(nodes.map(({ id }, at) => [id, at]));
  const known = links.filter((one) => numbers.has(one.source) && numbers.has(one.target));
  const ends = known.map((one) => [one.source, one.target].map((id) => numbers.get(id) ?? 0));
  const ideal = 0.8 * Math.sqrt((width * height) / nodes.length);
  for (let round = 0; round < ROUNDS; round++) {
    const heat = 0.1 * ideal * (1 - round / ROUNDS);
    const moves = nodes.map(() => ({ x: 0, y: 0 }));
    const pull = (one: number, other: number, force: (away: number) => number) => {
      const [a, b, of, to] = [nodes[one], nodes[other], moves[one], moves[other]];
      if (!a || !b || !of || !to) return;
      const [x, y] = [a.x - b.x || 0.1, a.y - b.y || 0.1];
      const away = Math.hypot(x, y);
      const share = force(away) / away;
      of.x += x * share;
      of.y += y * share;
      to.x -= x * share;
      to.y -= y * share;
    };
    nodes.forEach((_, one) => {
      for (let other = 0; other < one; other++) pull(one, other, (away) => ideal ** 2 / away);
    });
    for (const [one = 0, other = 0] of ends)
      if (one !== other) pull(one, other, (away) => (-0.6 * away ** 2) / ideal);
    nodes.forEach((node, at) => {
      const { x, y } = moves[at] ?? { x: 0, y: 0 };
      const long = Math.max(Math.hypot(x, y), 0.01);
      node.x += (x / long) * Math.min(long, heat);
      node.y += (y / long) * Math.min(long, heat);
    });
    const passes = round === ROUNDS - 1 ? 60 : round > ROUNDS / 2 ? 3 : 0;
    for (let pass = 0; pass < passes; pass++) separateAll(nodes);
    for (const node of nodes) {
      const half = node.wide / 2;
      node.x = Math.min(Math.max(node.x, half), width - half);
      const top = node.radius + LOOP;
      node.y = Math.min(Math.max(node.y, top), height - node.radius - node.below);
    }
  }
  return [nodes, drawn(nodes, known, numbers, width, height)];
}

/** Separates overlapping things, in the direction of the shorter move. */
function separateAll(nodes: readonly Node[]): void {
  nodes.forEach((one, at) => {
    for (const other of nodes.slice(0, at)) {
      const [a, b] = [boxOf(one), boxOf(other)];
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left) + GAP;
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) + GAP;
      if (across <= 0 || down <= 0) continue;
      const [axis, size] = across < down ? (["x", across] as const) : (["y", down] as const);
      const way = one[axis] < other[axis] ? -1 : 1;
      one[axis] += (way * size) / 2;
      other[axis] -= (way * size) / 2;
    }
  });
}

/** The area of a thing. */
export function boxOf({ x, y, radius, wide, below }: Node): Area {
  return areaOf(x - wide / 2, y - radius, wide, 2 * radius + below);
}

function drawn(
  nodes: readonly Node[],
  links: readonly Linked[],
  numbers: ReadonlyMap<string, number>,
  width: number,
  height: number,
): Edge[] {
  const taken = nodes.map(boxOf);
  const frame = areaOf(0, 0, width, height);
  return links.flatMap(({ wide, high, ...link }) => {
    const [from, to] = [link.source, link.target].map((id) => nodes[numbers.get(id) ?? 0]);
    if (!from || !to) return [];
    const line = from === to ? loop(from) : between(from, to);
    const spots = SHARES.map((share) => ({
      x: line.start.x + (line.end.x - line.start.x) * share,
      y: line.start.y + (line.end.y - line.start.y) * share,
    }));
    const at = spots.find(({ x, y }) => {
      const area = areaOf(x - wide / 2, y - high / 2, wide, high);
      const isFree = within(area, frame) && !taken.some((other) => meet(area, other));
      if (isFree) taken.push(area);
      return isFree;
    });
    return [{ ...link, path: line.path, at: at ?? null }];
  });
}

/** The line from the edge of a circle to that of another, without the texts below either. */
function between(from: Node, to: Node) {
  const [x, y] = [to.x - from.x, to.y - from.y];
  const away = Math.hypot(x, y) || 1;
  const [right, down] = [x / away, y / away];
  const first = from.radius + Math.max(0, down) ** 2 * from.below;
  const last = to.radius + 2 + Math.max(0, -down) ** 2 * to.below;
  const start = { x: from.x + right * first, y: from.y + down * first };
  const end = { x: to.x - right * last, y: to.y - down * last };
  return { start, end, path: `M${writeSpot(start)}L${writeSpot(end)}` };
}

/** A loop at the upper right of a circle. */
function loop(node: Node) {
  const side = node.radius * 0.7;
  const start = { x: node.x + side * 0.4, y: node.y - node.radius * 0.92 };
  const end = { x: node.x + node.radius, y: node.y - 2 };
  const far = { x: node.x + side + 18, y: node.y - side - 18 };
  return { start: far, end: far, path: `M${writeSpot(start)}Q${writeSpot(far)} ${writeSpot(end)}` };
}
