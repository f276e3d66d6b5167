// The coast lines of the world, as a path on the square of the projection; loaded with the map.

import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import land from "world-atlas/land-110m.json";
import { spotOf } from "./projection.ts";

/** The square is drawn this many units wide, so that a path needs few decimals. */
export const UNITS = 10_000;

/** The land of the world as an SVG path. */
export function coastPath(): string {
  const topology = land as unknown as Topology<{ land: GeometryCollection }>;
  const shapes = feature(topology, topology.objects.land).features;
  return shapes
    .flatMap(({ geometry }) => {
      if (geometry.type === "Polygon") return geometry.coordinates;
      return geometry.type === "MultiPolygon" ? geometry.coordinates.flat() : [];
    })
    .map(ringPath)
    .join("");
}

/** A ring, and once more beside the square what of it crosses the date line. */
function ringPath(ring: readonly number[][]): string {
  const points = unrolled(ring);
  const longitudes = points.map(([longitude]) => longitude);
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)];
  const shifts = [0, ...(east > 180 ? [-360] : []), ...(west < -180 ? [360] : [])];
  return shifts.map((shift) => pathOf(points, shift)).join("");
}

/** The ring without leaps from one edge of the world to the other; one around a pole reaches it. */
function unrolled(ring: readonly number[][]): [number, number][] {
  let turns = 0;
  let before = ring[0]?.[0] ?? 0;
  const points = ring.map(([longitude = 0, latitude = 0]): [number, number] => {
    if (longitude - before > 180) turns -= 360;
    else if (before - longitude > 180) turns += 360;
    before = longitude;
    return [longitude + turns, latitude];
  });
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || Math.abs(last[0] - first[0]) < 180) return points;
  return [...points, [last[0], -90], [first[0], -90]];
}

function pathOf(points: readonly [number, number][], shift: number): string {
  const spots = points.map(([longitude, latitude]) => {
    const { x, y } = spotOf({ longitude: longitude + shift, latitude });
    return `${(x * UNITS).toFixed(1)} ${(y * UNITS).toFixed(1)}`;
  });
  return `M${spots.join("L")}Z`;
}
