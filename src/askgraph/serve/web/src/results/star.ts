// Things around one in the middle, as wide as there is room.

export interface Spot {
  readonly x: number;
  readonly y: number;
}

/** More things than this stand in two rings. */
const ONE_RING = 12;
/** What a label needs beside its thing, and below. */
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
