// Lays out things and links: linked things near each other, without overlaps, and the names of
// links where there is room.

import { moveBodies, separate } from "../results/forces.ts";
import { type Area, areaOf, meet, within } from "../results/labels.ts";
import { type Spot, writeSpot } from "../results/projection.ts";

export interface Box {
  readonly id: string;
  /** The visible part of its label. */
  readonly name: string;
  readonly label: string;
  readonly count: string;
  /** The radius of its circle; its name and count are below. */
  readonly radius: number;
  readonly wide: number;
  /** The height of the text below the circle. */
  readonly below: number;
}

export type Node = Box & Spot;

interface Linked {
  readonly source: string;
  readonly target: string;
  readonly name: string;
  readonly label: string;
  /** The width and the height of its name. */
  readonly wide: number;
  readonly high: number;
}

export interface Edge extends Omit<Linked, "wide" | "high"> {
  readonly path: string;
  /** The middle of its name; null if there is no room. */
  readonly at: Spot | null;
}

const [TICKS, PASSES] = [300, 100];
const CHARGE = -3000;
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
  const bodies = boxes.map(({ id, wide, radius, below }, at) => {
    const turn = (2 * Math.PI * at) / boxes.length;
    const spot = { x: 0.35 * width * Math.cos(turn), y: 0.35 * height * Math.sin(turn) };
    return { id, wide: wide + GAP, high: 2 * radius + below + GAP, ...spot };
  });
  const ids = new Set(boxes.map(({ id }) => id));
  const known = links.filter(({ source, target }) => ids.has(source) && ids.has(target));
  const keepInside = () => {
    for (const body of bodies) {
      const [across, down] = [(width - body.wide) / 2, (height - body.high) / 2];
      body.x = Math.max(-across, Math.min(across, body.x));
      body.y = Math.max(LOOP - down, Math.min(down, body.y));
    }
  };
  const distance = 0.8 * Math.sqrt((width * height) / boxes.length);
  moveBodies(bodies, known, [distance, CHARGE, TICKS], keepInside);
  for (let pass = 0; pass < PASSES; pass++) {
    separate(bodies);
    keepInside();
  }
  const nodes = boxes.map((box, at): Node => {
    const { x = 0, y = 0 } = bodies[at] ?? {};
    return { ...box, x: width / 2 + x, y: (height - box.below) / 2 + y };
  });
  return [nodes, drawLinks(nodes, known, areaOf(0, 0, width, height))];
}

/** The area of a thing. */
export function boxOf({ x, y, radius, wide, below }: Node): Area {
  return areaOf(x - wide / 2, y - radius, wide, 2 * radius + below);
}

function drawLinks(nodes: readonly Node[], links: readonly Linked[], frame: Area): Edge[] {
  const taken = nodes.map(boxOf);
  return links.flatMap(({ wide, high, ...link }) => {
    const [from, to] = [link.source, link.target].map((end) => nodes.find(({ id }) => id === end));
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
