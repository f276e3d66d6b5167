// Names beside points, each where it hides no other name and no point.

interface Point {
  readonly x: number;
  readonly y: number;
  readonly name: string;
  /** The width of its name. */
  readonly wide: number;
}

export interface NameSpot {
  readonly x: number;
  readonly y: number;
  readonly anchor: "start" | "middle" | "end";
  /** Whether it is so far off that a line must lead there. */
  readonly isFar?: boolean;
}

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

const HIGH = 17;
const AWAY = 9;
/** Of more points than this none is named. */
const MOST = 400;

/** Pixels between a point and a name to which a line leads. */
const FAR = [22, 36, 52];

/**
 * Returns the place of each point's name: right, left, above or below it, and not where something
 * is `kept`; null if there is none. The first points are named first. With `far`, a name without a
 * place there may stand farther off.
 */
export function spotsForNames(
  points: readonly Point[],
  { width, height }: { readonly width: number; readonly height: number },
  kept: readonly Box[] = [],
  far = false,
): (NameSpot | null)[] {
  if (points.length > MOST) return points.map(() => null);
  const taken: Box[] = [...kept, ...points.map(({ x, y }) => boxOf(x - 5, y - 5, 10, 10))];
  const frame = boxOf(0, 0, width, height);
  return points.map((point) => {
    if (!point.name || !within(boxOf(point.x, point.y, 0, 0), frame)) return null;
    for (const [spot, box] of far ? [...placesOf(point), ...farFrom(point)] : placesOf(point)) {
      if (!within(box, frame) || taken.some((other) => meet(box, other))) continue;
      taken.push(box);
      return spot;
    }
    return null;
  });
}

function placesOf({ x, y, wide }: Point): [NameSpot, Box][] {
  const middle = y + 4;
  return [
    [{ x: x + AWAY, y: middle, anchor: "start" }, boxOf(x + AWAY, y - HIGH / 2, wide, HIGH)],
    [{ x: x - AWAY, y: middle, anchor: "end" }, boxOf(x - AWAY - wide, y - HIGH / 2, wide, HIGH)],
    [{ x, y: y - AWAY, anchor: "middle" }, boxOf(x - wide / 2, y - AWAY - HIGH + 3, wide, HIGH)],
    [{ x, y: y + AWAY + 9, anchor: "middle" }, boxOf(x - wide / 2, y + AWAY - 1, wide, HIGH)],
  ];
}

/** Places around a point, from which a line leads to it. */
function farFrom({ x, y, wide }: Point): [NameSpot, Box][] {
  return FAR.flatMap((away) =>
    [-0.5, 0.5, 0, -1, 1].flatMap((slope): [NameSpot, Box][] => {
      const [across, down] = [away * Math.cos(slope), away * Math.sin(slope)];
      const top = y + down - HIGH / 2;
      const [right, left] = [x + across, x - across];
      return [
        [
          { x: right, y: y + down + 4, anchor: "start", isFar: true },
          boxOf(right, top, wide, HIGH),
        ],
        [
          { x: left, y: y + down + 4, anchor: "end", isFar: true },
          boxOf(left - wide, top, wide, HIGH),
        ],
      ];
    }),
  );
}

function boxOf(left: number, top: number, width: number, height: number): Box {
  return { left, right: left + width, top, bottom: top + height };
}

function within(box: Box, frame: Box): boolean {
  return (
    box.left >= frame.left &&
    box.right <= frame.right &&
    box.top >= frame.top &&
    box.bottom <= frame.bottom
  );
}

function meet(one: Box, other: Box): boolean {
  return (
    one.left < other.right &&
    other.left < one.right &&
    one.top < other.bottom &&
    other.top < one.bottom
  );
}
