// The result on a map: coast lines of its own, tiles only if the server's operator set them.

import coast from "coast";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { thingAddress } from "../app/router.ts";
import { locale as formatLocale, formatNumber } from "../i18n/index.ts";
import { Button, Named } from "../parts/parts.tsx";
import { degreesText, type Pin } from "./columns.ts";
import { spotsForNames } from "./labels.ts";
import { lineOf, shortened, widthOf } from "./measure.ts";
import { Pictures } from "./Pictures.tsx";
import { EDGE, netStep, pixelOf, placeAt, spotOf, type View } from "./projection.ts";
import { usePanning } from "./usePanning.ts";
import { useWidth } from "./useWidth.ts";
import { say } from "./words.ts";
import { ZoomButtons } from "./ZoomButtons.tsx";

const MANY = 60;
const NARROW = 560;
const LONGEST = 96; // pixels of a name where it is narrow
const TOUCH = 24; // pixels from a pin in which it is meant

interface MapViewProps {
  readonly pins: readonly Pin[];
  readonly graph: string;
  /** Rows of the result that have no place. */
  readonly elsewhere: number;
  /** The address of tiles with {z}, {x} and {y}; "" for none. */
  readonly tiles: string;
}

export function MapView(props: MapViewProps) {
  const [element, width] = useWidth<HTMLDivElement>();
  return (
    <div class="map-view stack near" ref={element}>
      {width > 0 && <Sized {...props} width={width} />}
    </div>
  );
}

/** The map once it is known how wide it may be. */
function Sized({ pins, graph, elsewhere, tiles, width }: MapViewProps & { width: number }) {
  const [chosen, setChosen] = useState<Pin | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const isNarrow = width < NARROW;
  const height = isNarrow ? 340 : Math.round(Math.min(460, width * 0.55));
  const spots = useMemo(() => pins.map(({ place }) => spotOf(place)), [pins]);
  useEffect(() => setChosen(null), [pins]);
  const panning = usePanning(frame, spots, width, height);
  const locale = formatLocale.value;
  const size = { width, height };
  const places = spots.map((spot) => pixelOf(spot, panning.view, width, height));
  const points = places.map((at, index) => {
    const whole = pins[index]?.name ?? "";
    const name = isNarrow ? shortened(whole, LONGEST) : whole;
    return { ...at, name, wide: widthOf(name) + 4 };
  });
  const buttons = { left: width - 56, right: width, top: 0, bottom: 124 };
  const names = spotsForNames(points, { ...size, line: lineOf() }, [buttons], true);
  const touched = (event: MouseEvent) => {
    if (panning.dragged() || !(event.currentTarget instanceof Element)) return;
    const { left, top } = event.currentTarget.getBoundingClientRect();
    const away = places.map(({ x, y }) =>
      Math.hypot(event.clientX - left - x, event.clientY - top - y),
    );
    const least = Math.min(...away);
    const pin = least < TOUCH ? pins[away.indexOf(least)] : undefined;
    setChosen(pin && pin !== chosen ? pin : null);
  };
  return (
    <>
      <div class="map-frame" ref={frame}>
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
            <Land view={panning.view} {...size} />
            {tiles && <Tiles template={tiles} view={panning.view} {...size} />}
            <Net view={panning.view} {...size} />
            {pins.map((pin, index) => {
              const { x, y } = places[index] ?? { x: 0, y: 0 };
              return (
                <circle
                  key={pin.row}
                  class={pin === chosen ? "pin chosen" : "pin"}
                  cx={x}
                  cy={y}
                  r={pin === chosen ? 9 : pins.length > MANY ? 4 : 6}
                >
                  <title>{pin.name}</title>
                </circle>
              );
            })}
            {names.map(
              (spot, index) =>
                spot && (
                  <g key={pins[index]?.row}>
                    {spot.isFar && (
                      <line
                        class="pin-line"
                        x1={points[index]?.x}
                        y1={points[index]?.y}
                        x2={spot.x}
                        y2={spot.y - 4}
                      />
                    )}
                    <text class="pin-name" x={spot.x} y={spot.y} text-anchor={spot.anchor}>
                      {points[index]?.name}
                    </text>
                  </g>
                ),
            )}
          </svg>
        </div>
        <ZoomButtons zoom={panning.zoom} fit={panning.fit} />
        {chosen && <Card pin={chosen} {...{ pins, graph, locale }} />}
      </div>
      <div class="chart-head row">
        <p class="muted small">{tiles && say.source(hostOf(tiles))}</p>
        {/* A picture may not hold tiles of another host. */}
        {!tiles && (
          <Pictures
            name={say.mapOf(pins.length)}
            drawing={() => frame.current?.querySelector<SVGSVGElement>(".map svg")}
          />
        )}
      </div>
      {elsewhere > 0 && <p class="muted small">{say.somewhere(elsewhere)}</p>}
      <PinList
        {...{ pins, chosen, locale }}
        onChoose={(pin, index) => {
          setChosen(pin);
          panning.show(spots[index] ?? { x: 0.5, y: 0.5 });
        }}
      />
    </>
  );
}

interface PinListProps {
  readonly pins: readonly Pin[];
  readonly chosen: Pin | null;
  readonly locale: string;
  readonly onChoose: (pin: Pin, index: number) => void;
}

function PinList({ pins, chosen, locale, onChoose }: PinListProps) {
  return (
    <details>
      <summary>{say.placesList}</summary>
      <ul class="pin-list">
        {pins.map((pin, index) => (
          <li key={pin.row}>
            <Button
              look="quiet small"
              aria-pressed={pin === chosen}
              onClick={() => onChoose(pin, index)}
            >
              <bdi>{pin.name}</bdi>
            </Button>
            <span class="muted small number">{degreesText(pin.place, locale)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Land({ view, width, height }: { view: View; width: number; height: number }) {
  const scale = view.world / coast.units;
  const [x, y] = [width / 2 - view.x * view.world, height / 2 - view.y * view.world];
  return <path class="land" d={coast.path} transform={`translate(${x} ${y}) scale(${scale})`} />;
}

interface CardProps {
  readonly pin: Pin;
  readonly pins: readonly Pin[];
  readonly graph: string;
  readonly locale: string;
}

function Card({ pin, pins, graph, locale }: CardProps) {
  const { latitude, longitude } = pin.place;
  const here = pins.filter(
    ({ place }) => place.latitude === latitude && place.longitude === longitude,
  );
  return (
    <div class="map-card" role="status">
      <Named href={pin.iri ? thingAddress(graph, pin.iri) : null}>{pin.name}</Named>
      {here.length > 1 && (
        <span class="muted small">{say.sameRow(formatNumber(here.length - 1))}</span>
      )}
      <span class="muted small number">{degreesText(pin.place, locale)}</span>
    </div>
  );
}

function hostOf(template: string): string {
  return URL.canParse(template) ? new URL(template).hostname : template;
}

// The net of degrees over a map, with its numbers at the edges.

function Net({ view, width, height }: { view: View; width: number; height: number }) {
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

function degrees(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const count = Math.floor(to / step) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) =>
    Number(((first + i) * step).toFixed(2)),
  );
}

// Map tiles behind the pins, from the address that the server's operator set.

const SIZE = 256;
const CLOSEST = 19;

interface TilesProps {
  /** An address with {z}, {x} and {y}; {s} is a mirror's letter. */
  readonly template: string;
  readonly view: View;
  readonly width: number;
  readonly height: number;
}

function Tiles({ template, view, width, height }: TilesProps) {
  const zoom = Math.max(0, Math.min(CLOSEST, Math.round(Math.log2(view.world / SIZE))));
  const count = 2 ** zoom;
  const seen = (middle: number, pixels: number) => {
    const half = pixels / view.world / 2;
    return range((middle - half) * count, (middle + half) * count, count);
  };
  const [across, down] = [seen(view.x, width), seen(view.y, height)];
  const side = view.world / count;
  return (
    <g>
      {down.flatMap((y) =>
        across.map((x) => {
          const at = pixelOf({ x: x / count, y: y / count }, view, width, height);
          const parts: Readonly<Record<string, unknown>> = { s: "a", z: zoom, x, y };
          const href = template.replace(/\{([szxy])\}/g, (_, name) => String(parts[name]));
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
