// The map's projection: Mercator by d3-geo, as map tiles have it, on a square of side 1.

import { geoMercatorRaw } from "d3-geo";
import { extent, type Place } from "./values.ts";

export interface Spot {
  x: number;
  y: number;
}

/** A spot as a path writes it. */
export function writeSpot({ x, y }: Spot): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}

/** The visible part of the world: its middle, and the width of the world in pixels. */
export interface View extends Spot {
  world: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The farthest north that the square shows. */
export const EDGE = 85.0511;
const CLOSEST = 256 * 2 ** 17;

const RADIANS = Math.PI / 180;

/** Where a place lies on the square; the poles are drawn at its edge. */
export function spotOf({ longitude, latitude }: Place): Spot {
  const north = Math.max(-EDGE, Math.min(EDGE, latitude)) * RADIANS;
  const [right, up] = geoMercatorRaw(longitude * RADIANS, north);
  return { x: 0.5 + right / (2 * Math.PI), y: 0.5 - up / (2 * Math.PI) };
}

/** The place that lies at a spot of the square. */
export function placeAt({ x, y }: Spot): Place {
  const turned = [(x - 0.5) * 2 * Math.PI, (0.5 - y) * 2 * Math.PI] as const;
  const [longitude, latitude] = geoMercatorRaw.invert?.(...turned) ?? [0, 0];
  return { longitude: longitude / RADIANS, latitude: latitude / RADIANS };
}

/** The view that shows all spots with a margin; a single one with the country around it. */
export function fitView(spots: readonly Spot[], size: Size): View {
  const [left, right] = extent(spots.map(({ x }) => x));
  const [top, bottom] = extent(spots.map(({ y }) => y));
  const across = Math.max(right - left, 0.03) * 1.25;
  const down = Math.max(bottom - top, 0.03) * 1.3;
  const world = Math.min(size.width / across, size.height / down);
  return boundView({ x: (left + right) / 2, y: (top + bottom) / 2, world }, size);
}

/** Returns the view nearer or farther by a factor; the spot under the pointer stays. */
export function zoomView(view: View, factor: number, about: Spot, size: Size): View {
  const least = Math.min(size.width, size.height);
  const world = Math.min(CLOSEST, Math.max(least, view.world * factor));
  const kept = 1 - view.world / world;
  const [x, y] = [view.x + (about.x - view.x) * kept, view.y + (about.y - view.y) * kept];
  return boundView({ x, y, world }, size);
}

/** The view moved by pixels. */
export function moveView(view: View, right: number, down: number, size: Size): View {
  const { x, y, world } = view;
  return boundView({ x: x + right / world, y: y + down / world, world }, size);
}

/** The pixels of a spot in a view. */
export function pixelOf(spot: Spot, view: View, { width, height }: Size): Spot {
  return {
    x: (spot.x - view.x) * view.world + width / 2,
    y: (spot.y - view.y) * view.world + height / 2,
  };
}

/** The spot at pixels of a view. */
export function spotAt({ x, y }: Spot, view: View, { width, height }: Size): Spot {
  return { x: view.x + (x - width / 2) / view.world, y: view.y + (y - height / 2) / view.world };
}

/** The degrees between two lines of the net that suit a view. */
export function netStep(view: View): number {
  const wanted = (360 * 70) / view.world;
  return [0.1, 0.25, 0.5, 1, 2, 5, 10, 15, 30, 45, 60].find((step) => step >= wanted) ?? 90;
}

function boundView(view: View, { width, height }: Size): View {
  const world = Math.max(view.world, Math.min(width, height));
  return { x: within(view.x, width / world), y: within(view.y, height / world), world };
}

function within(middle: number, share: number): number {
  return share >= 1 ? 0.5 : Math.min(1 - share / 2, Math.max(share / 2, middle));
}
