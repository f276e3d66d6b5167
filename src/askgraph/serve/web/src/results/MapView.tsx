// The result on a map: coast lines of its own, tiles only where the server's operator set them.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { locale as formatLocale, formatNumber } from "../i18n/index.ts";
import { coastPath, UNITS } from "./coast.ts";
import { thingAddress } from "./links.ts";
import { Net } from "./Net.tsx";
import { degreesText, type Pin } from "./places.ts";
import { pixelOf, spotOf, type View } from "./projection.ts";
import { Tiles } from "./Tiles.tsx";
import { usePanning } from "./usePanning.ts";
import { useWidth } from "./useWidth.ts";
import { words } from "./words.ts";
import { ZoomButtons } from "./ZoomButtons.tsx";

const MANY = 60;

export interface MapViewProps {
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
    <div class="map-view" ref={element}>
      {width > 0 && <Sized {...props} width={width} />}
    </div>
  );
}

/** The map once it is known how wide it may be. */
function Sized({ pins, graph, elsewhere, tiles, width }: MapViewProps & { width: number }) {
  const [chosen, setChosen] = useState<Pin | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const height = Math.round(Math.min(460, Math.max(280, width * 0.55)));
  const spots = useMemo(() => pins.map(({ place }) => spotOf(place)), [pins]);
  useEffect(() => setChosen(null), [pins]);
  const panning = usePanning(frame, spots, width, height);
  const locale = formatLocale.value;
  const size = { width, height };
  return (
    <>
      <div class="map-frame" ref={frame}>
        <div
          class="map"
          role="application"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes the arrow keys
          tabIndex={0}
          aria-label={`${words().mapOf(formatNumber(pins.length))}. ${words().mapHelp}`}
          {...panning.handlers}
        >
          <svg {...size} aria-hidden="true">
            <rect class="sea" {...size} />
            <Land view={panning.view} {...size} />
            {tiles && <Tiles template={tiles} view={panning.view} {...size} />}
            <Net view={panning.view} {...size} />
            {pins.map((pin, index) => {
              const spot = spots[index] ?? { x: 0, y: 0 };
              const { x, y } = pixelOf(spot, panning.view, width, height);
              return (
                // biome-ignore lint/a11y/noStaticElementInteractions: the list below is for keys
                <circle
                  key={pin.row}
                  class={pin === chosen ? "pin chosen" : "pin"}
                  cx={x}
                  cy={y}
                  r={pin === chosen ? 9 : pins.length > MANY ? 4 : 6}
                  onClick={() => !panning.dragged() && setChosen(pin === chosen ? null : pin)}
                >
                  <title>{pin.name}</title>
                </circle>
              );
            })}
          </svg>
        </div>
        <ZoomButtons zoom={panning.zoom} fit={panning.fit} />
        {chosen && <Card pin={chosen} {...{ pins, graph, locale }} />}
      </div>
      {tiles && <p class="muted small">{words().source(hostOf(tiles))}</p>}
      {elsewhere > 0 && (
        <p class="muted small">{words().somewhere(elsewhere, formatNumber(elsewhere))}</p>
      )}
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
      <summary>{words().placesList}</summary>
      <ul class="pin-list">
        {pins.map((pin, index) => (
          <li key={pin.row}>
            <button
              type="button"
              class="button quiet small"
              aria-pressed={pin === chosen}
              onClick={() => onChoose(pin, index)}
            >
              <bdi>{pin.name}</bdi>
            </button>
            <span class="muted small number">{degreesText(pin.place, locale)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Land({ view, width, height }: { view: View; width: number; height: number }) {
  const path = useMemo(coastPath, []);
  const scale = view.world / UNITS;
  const [x, y] = [width / 2 - view.x * view.world, height / 2 - view.y * view.world];
  return <path class="land" d={path} transform={`translate(${x} ${y}) scale(${scale})`} />;
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
      {pin.iri ? (
        <a href={thingAddress(graph, pin.iri)}>
          <bdi>{pin.name}</bdi>
        </a>
      ) : (
        <bdi>{pin.name}</bdi>
      )}
      {here.length > 1 && (
        <span class="muted small">{words().sameRow(formatNumber(here.length - 1))}</span>
      )}
      <span class="muted small number">{degreesText(pin.place, locale)}</span>
    </div>
  );
}

function hostOf(template: string): string {
  return URL.canParse(template) ? new URL(template).hostname : template;
}
