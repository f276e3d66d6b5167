// The result on a map: coast lines of its own, tiles only if the server's operator set them.

import coast from "coast";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { thingAddress } from "../app/router.ts";
import { formatNumber, locale } from "../i18n/index.ts";
import { Named, QuietButton } from "../parts/parts.tsx";
import { formatDegrees, type Pin } from "./columns.ts";
import { ZoomButtons } from "./controls.tsx";
import { spotsForNames } from "./labels.ts";
import { lineOf, shortenText, useWidth, widthOf } from "./measure.ts";
import { Pictures } from "./Pictures.tsx";
import type { Size, View } from "./projection.ts";
import { EDGE, netStep, pixelOf, placeAt, spotAt, spotOf } from "./projection.ts";
import { usePanning } from "./usePanning.ts";
import { say } from "./words.ts";

const MANY = 60;
const NARROW = 560;
const LONGEST = 96; // pixels of a name on a narrow map
const TOUCH = 24; // a click within so many pixels hits a pin

interface MapViewProps {
  readonly pins: readonly Pin[];
  readonly graph: string;
  readonly elsewhere: number;
  /** The address of tiles with {z}, {x} and {y}; "" for none. */
  readonly tiles: string;
  readonly about: readonly string[];
}

export function MapView(props: MapViewProps) {
  const [element, width] = useWidth<HTMLDivElement>();
  return (
    <div class="map-view stack near" ref={element}>
      {width > 0 && <Sized {...props} width={width} />}
    </div>
  );
}

/** The map, once its width is known. */
function Sized({ pins, graph, elsewhere, tiles, about, width }: MapViewProps & { width: number }) {
  const [chosen, setChosen] = useState<Pin | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const isNarrow = width < NARROW;
  const size = { width, height: isNarrow ? 340 : Math.round(Math.min(460, width * 0.55)) };
  const spots = useMemo(() => pins.map(({ place }) => spotOf(place)), [pins]);
  useEffect(() => setChosen(null), [pins]);
  const { view, ...panning } = usePanning(frame, spots, size);
  const points = pins.map((pin, index) => {
    const name = isNarrow ? shortenText(pin.name, LONGEST) : pin.name;
    const at = pixelOf(spots[index] ?? { x: 0, y: 0 }, view, size);
    return { ...at, pin, name, wide: widthOf(name) + 4 };
  });
  const buttons = { left: width - 56, right: width, top: 0, bottom: 124 };
  const names = spotsForNames(points, { ...size, line: lineOf() }, [buttons], !isNarrow);
  const touched = (event: MouseEvent) => {
    if (panning.dragged() || !(event.currentTarget instanceof Element)) return;
    const { left, top } = event.currentTarget.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const away = points.map((point) => Math.hypot(point.x - x, point.y - y));
    const least = Math.min(...away);
    const pin = least < TOUCH ? pins[away.indexOf(least)] : undefined;
    setChosen(pin && pin !== chosen ? pin : null);
  };
  return (
    <>
      <div class="map-frame sheet" ref={frame}>
        <div
          class="map"
          role="application"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes the arrow keys
          tabIndex={0}
          aria-label={`${say.mapOf(pins.length)}. ${say.mapHelp}`}
          {...panning.handlers}
        >
          <svg {...size} aria-hidden="true" onClick={touched}>
            <rect class="sea" {...size} />
            <Land view={view} size={size} />
            {tiles && <Tiles template={tiles} view={view} size={size} />}
            <Net view={view} size={size} />
            {points.map(({ pin, x, y }) => (
              <circle
                key={pin.row}
                class={pin === chosen ? "pin chosen" : "pin"}
                cx={x}
                cy={y}
                r={pin === chosen ? 9 : pins.length > MANY ? 4 : 6}
              >
                <title>{pin.name}</title>
              </circle>
            ))}
            {points.map(({ pin, name, x, y }, index) => {
              const spot = names[index];
              if (!spot) return null;
              return (
                <g key={pin.row}>
                  {spot.isFar && (
                    <line class="pin-line" x1={x} y1={y} x2={spot.x} y2={spot.y - 4} />
                  )}
                  <text class="pin-name" x={spot.x} y={spot.y} text-anchor={spot.anchor}>
                    {name}
                  </text>
                </g>
              );
            })}
          </svg>
        </div>
        <ZoomButtons zoom={panning.zoom} fit={panning.fit} />
        {chosen && <Card pin={chosen} pins={pins} graph={graph} />}
      </div>
      <div class="row spread">
        <p class="muted small">
          {tiles && say.source(URL.canParse(tiles) ? new URL(tiles).hostname : tiles)}
        </p>
        {/* A picture may not hold tiles of another host. */}
        {!tiles && (
          <Pictures
            {...{ about, name: say.mapOf(pins.length) }}
            drawing={() => frame.current?.querySelector<SVGSVGElement>(".map svg")}
          />
        )}
      </div>
      {elsewhere > 0 && <p class="muted small">{say.somewhere(elsewhere)}</p>}
      <details>
        <summary class="muted small">{say.placesList}</summary>
        <ul class="pin-list newspaper">
          {pins.map((pin, index) => (
            <li key={pin.row} class="row tight">
              <QuietButton
                aria-pressed={pin === chosen}
                onClick={() => {
                  setChosen(pin);
                  panning.show(spots[index] ?? { x: 0.5, y: 0.5 });
                }}
              >
                <bdi>{pin.name}</bdi>
              </QuietButton>
              <span class="muted small number">{formatDegrees(pin.place, locale.value)}</span>
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

interface Layer {
  readonly view: View;
  readonly size: Size;
}

function Land({ view, size }: Layer) {
  const { x, y } = pixelOf({ x: 0, y: 0 }, view, size);
  const scale = view.world / coast.units;
  return <path class="land" d={coast.path} transform={`translate(${x} ${y}) scale(${scale})`} />;
}

function Card({ pin, pins, graph }: { pin: Pin; pins: readonly Pin[]; graph: string }) {
  const { latitude, longitude } = pin.place;
  const others =
    pins.filter(({ place }) => place.latitude === latitude && place.longitude === longitude)
      .length - 1;
  return (
    <div class="map-card raised row" role="status">
      <Named href={pin.iri ? thingAddress(graph, pin.iri) : null}>{pin.name}</Named>
      {others > 0 && <span class="muted small">{say.sameRow(formatNumber(others))}</span>}
      <span class="muted small number">{formatDegrees(pin.place, locale.value)}</span>
    </div>
  );
}

/** The net of degrees over a map, with its numbers at the edges. */
function Net({ view, size }: Layer) {
  const { width, height } = size;
  const step = netStep(view);
  const from = placeAt(spotAt({ x: 0, y: height }, view, size));
  const to = placeAt(spotAt({ x: width, y: 0 }, view, size));
  const east = steps(Math.max(-180, from.longitude), Math.min(180, to.longitude), step);
  const north = steps(Math.max(-EDGE, from.latitude), Math.min(EDGE, to.latitude), step);
  const at = (longitude: number, latitude: number) =>
    pixelOf(spotOf({ longitude, latitude }), view, size);
  return (
    <g class="net">
      {east.map((longitude) => {
        const { x } = at(longitude, 0);
        return (
          <g key={longitude}>
            <line x1={x} x2={x} y1={0} y2={height} />
            {x < width - 36 && (
              <text x={x + 3} y={height - 5}>
                {Math.abs(longitude)}°
              </text>
            )}
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

/** The multiples of a step between two numbers. */
function steps(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const count = Math.max(0, Math.floor(to / step) - first + 1);
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toFixed(2)));
}

const TILE = 256; // pixels
const CLOSEST = 19;

/** Map tiles behind the pins, from the address that the server's operator set. */
function Tiles({ template, view, size }: Layer & { readonly template: string }) {
  const zoom = Math.max(0, Math.min(CLOSEST, Math.round(Math.log2(view.world / TILE))));
  const count = 2 ** zoom;
  const side = view.world / count + 0.5;
  const from = spotAt({ x: 0, y: 0 }, view, size);
  const to = spotAt({ x: size.width, y: size.height }, view, size);
  const seen = (first: number, last: number) =>
    steps(Math.max(0, Math.floor(first * count)), Math.min(count - 1, last * count), 1);
  return (
    <g>
      {seen(from.y, to.y).flatMap((y) =>
        seen(from.x, to.x).map((x) => {
          const at = pixelOf({ x: x / count, y: y / count }, view, size);
          const parts: Readonly<Record<string, unknown>> = { s: "a", z: zoom, x, y };
          const href = template.replace(/\{([szxy])\}/g, (_, name) => String(parts[name]));
          return <image key={href} href={href} x={at.x} y={at.y} width={side} height={side} />;
        }),
      )}
    </g>
  );
}
