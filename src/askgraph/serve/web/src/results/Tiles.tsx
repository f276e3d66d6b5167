// Map tiles behind the pins, from the address that the server's operator set.

import { pixelOf, type View } from "./projection.ts";

const SIZE = 256;
const CLOSEST = 19;

interface Props {
  /** An address with {z}, {x} and {y}; {s} is a mirror's letter. */
  readonly template: string;
  readonly view: View;
  readonly width: number;
  readonly height: number;
}

export function Tiles({ template, view, width, height }: Props) {
  const zoom = Math.max(0, Math.min(CLOSEST, Math.round(Math.log2(view.world / SIZE))));
  const count = 2 ** zoom;
  const across = range(
    (view.x - width / view.world / 2) * count,
    (view.x + width / view.world / 2) * count,
    count,
  );
  const down = range(
    (view.y - height / view.world / 2) * count,
    (view.y + height / view.world / 2) * count,
    count,
  );
  const side = view.world / count;
  return (
    <g>
      {down.flatMap((y) =>
        across.map((x) => {
          const at = pixelOf({ x: x / count, y: y / count }, view, width, height);
          const href = template
            .replace("{s}", "a")
            .replace("{z}", `${zoom}`)
            .replace("{x}", `${x}`)
            .replace("{y}", `${y}`);
          return (
            <image
              key={href}
              href={href}
              x={at.x}
              y={at.y}
              width={side + 0.5}
              height={side + 0.5}
            />
          );
        }),
      )}
    </g>
  );
}

function range(from: number, to: number, count: number): number[] {
  const first = Math.max(0, Math.floor(from));
  const last = Math.min(count - 1, Math.floor(to));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i);
}
