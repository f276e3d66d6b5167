// Names beside points, each where it hides no other name and no point.

import type { Line } from "./measure.ts";
import type { Size, Spot } from "./projection.ts";

interface Point extends Spot {
  readonly name: string;
  readonly wide: number;
  /** Whether the name stands better at its left than at its right. */
  readonly isLeft?: boolean;
}

interface NameSpot extends Spot {
  readonly anchor: "start" | "middle" | "end";
  /** Whether it is far enough away to need a line. */
  readonly isFar?: boolean;
}

/** A covered area. */
export interface Area {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

type Named = [NameSpot, Area];

const AWAY = 9;
/** With more points than this, none is named. */
const MOST = 400;

/** Pixels between a point and a name to which a line leads. */
const FAR = [22, 36, 52];

/**
 * Returns the position of each point's name: right, left, above or below it, outside of the areas
 * in `kept`; null if there is none. The first points are named first. With `far`, a name without
 * room beside its point may be farther away.
 */
export function spotsForNames(
  points: readonly Point[],
  { width, height, line }: Size & { readonly line: Line },
  kept: readonly Area[] = [],
  far = false,
): (NameSpot | null)[] {
  if (points.length > MOST) return points.map(() => null);
  const taken: Area[] = [...kept, ...points.map(({ x, y }) => areaOf(x - 5, y - 5, 10, 10))];
  const frame = areaOf(0, 0, width, height);
  return points.map((point) => {
    if (!point.name || !within(areaOf(point.x, point.y, 0, 0), frame)) return null;
    const places = [...placesOf(point, line), ...(far ? farFrom(point, line) : [])];
    for (const [spot, box] of places) {
      if (!within(box, frame) || taken.some((other) => meet(box, other))) continue;
      taken.push(box);
      return spot;
    }
    return null;
  });
}

/** A name whose base line begins, ends or has its middle here, and what it covers. */
export function nameAt(
  x: number,
  y: number,
  anchor: NameSpot["anchor"],
  wide: number,
  line: Line,
): Named {
  const left = anchor === "start" ? x : anchor === "end" ? x - wide : x - wide / 2;
  return [{ x, y, anchor }, areaOf(left, y - line.ascent, wide, line.ascent + line.descent)];
}

function placesOf({ x, y, wide, isLeft }: Point, line: Line): Named[] {
  const middle = y + (line.ascent - line.descent) / 2;
  const right = nameAt(x + AWAY, middle, "start", wide, line);
  const left = nameAt(x - AWAY, middle, "end", wide, line);
  return [
    ...(isLeft ? [left, right] : [right, left]),
    nameAt(x, y - AWAY + 1, "middle", wide, line),
    nameAt(x, y + AWAY + line.ascent - 3, "middle", wide, line),
  ];
}

/** Places around a point, from which a line leads to it. */
function farFrom({ x, y, wide }: Point, line: Line): Named[] {
  const middle = y + (line.ascent - line.descent) / 2;
  return FAR.flatMap((away) =>
    [-0.5, 0.5, 0, -1, 1].flatMap((slope) => {
      const [across, down] = [away * Math.cos(slope), away * Math.sin(slope)];
      return [
        nameAt(x + across, middle + down, "start", wide, line),
        nameAt(x - across, middle + down, "end", wide, line),
      ].map(([spot, box]): Named => [{ ...spot, isFar: true }, box]);
    }),
  );
}

/** The area of a size at a place. */
export function areaOf(left: number, top: number, width: number, height: number): Area {
  return { left, right: left + width, top, bottom: top + height };
}

export function within(box: Area, frame: Area): boolean {
  const isAcross = box.left >= frame.left && box.right <= frame.right;
  return isAcross && box.top >= frame.top && box.bottom <= frame.bottom;
}

export function meet(one: Area, other: Area): boolean {
  const isAcross = one.left < other.right && other.left < one.right;
  return isAcross && one.top < other.bottom && other.top < one.bottom;
}
