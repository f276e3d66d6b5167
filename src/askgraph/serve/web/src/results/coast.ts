// The coast lines of the world, as a path on the square of the projection; loaded with the map.

import { geoPath } from "d3-geo";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import land from "world-atlas/land-110m.json";
import { mercator } from "./projection.ts";

/** The square is drawn this many units wide, so that a path needs few decimals. */
export const UNITS = 10_000;

/** The land of the world as an SVG path. */
export function coastPath(): string {
  const topology = land as unknown as Topology<{ land: GeometryCollection }>;
  const path = geoPath(mercator(UNITS)).digits(1);
  return path(feature(topology, topology.objects.land)) ?? "";
}
