// The net of degrees over a map, with its numbers at the edges.

import { EDGE, netStep, pixelOf, placeAt, spotOf, type View } from "./projection.ts";

interface Props {
  readonly view: View;
  readonly width: number;
  readonly height: number;
}

export function Net({ view, width, height }: Props) {
  const step = netStep(view);
  const half = { x: width / view.world / 2, y: height / view.world / 2 };
  const from = placeAt({ x: view.x - half.x, y: view.y + half.y });
  const to = placeAt({ x: view.x + half.x, y: view.y - half.y });
  const east = degrees(Math.max(-180, from.longitude), Math.min(180, to.longitude), step);
  const north = degrees(Math.max(-EDGE, from.latitude), Math.min(EDGE, to.latitude), step);
  const at = (longitude: number, latitude: number) =>
    pixelOf(spotOf({ longitude, latitude }), view, width, height);
  return (
    <g class="net">
      {east.map((longitude) => {
        const { x } = at(longitude, 0);
        return (
          <g key={longitude}>
            <line x1={x} x2={x} y1={0} y2={height} />
            <text x={x + 3} y={height - 5}>
              {Math.abs(longitude)}°
            </text>
          </g>
        );
      })}
      {north.map((latitude) => {
        const { y } = at(0, latitude);
        return (
          <g key={latitude}>
            <line x1={0} x2={width} y1={y} y2={y} />
            <text x={4} y={y - 3}>
              {Math.abs(latitude)}°
            </text>
          </g>
        );
      })}
    </g>
  );
}

function degrees(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const count = Math.floor(to / step) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) =>
    Number(((first + i) * step).toFixed(2)),
  );
}
