// Bars: one a row, named at its left, its number at its end.

import { useState } from "preact/hooks";
import { locale as formatLocale, formatNumber } from "../i18n/index.ts";
import { Button } from "../parts/parts.tsx";
import { type Bar, FIRST_BARS, MOST_BARS } from "./charts.ts";
import { BOTTOM, Marks, type Sized, TOP, XAxis } from "./Marks.tsx";
import { roomFor, shortened } from "./measure.ts";
import { numberScale } from "./scales.ts";
import { numberText } from "./texts.ts";
import { say } from "./words.ts";

const ROW = 28;
const THICK = 18;
/** The share of the width that names may take. */
const NAMES = 0.45;

interface BarsProps extends Sized {
  readonly bars: readonly Bar[];
  readonly ordered: boolean;
}

/** The first bars, and on demand the rest. */
export function Bars({ bars: all, ordered, ...sized }: BarsProps) {
  const [isWhole, showAll] = useState(false);
  const locale = formatLocale.value;
  const shown = all.slice(0, isWhole ? MOST_BARS : FIRST_BARS);
  const rest = all.slice(shown.length).map(({ value }) => value);
  const [from, to] = [Math.min(...rest), Math.max(...rest)].map((one) => numberText(one, locale));
  return (
    <>
      <Rows bars={shown} {...sized} />
      {rest.length > 0 && (
        <p class="row muted small">
          <span>
            {ordered
              ? say.barsFirst(shown.length, all.length)
              : say.barsLargest(shown.length, all.length)}{" "}
            {say.barsRest(formatNumber(rest.length), from ?? "", to ?? "")}
          </span>
          {!isWhole && (
            <Button look="quiet small" onClick={() => showAll(true)}>
              {say.barsMore(Math.min(all.length, MOST_BARS))}
            </Button>
          )}
        </p>
      )}
    </>
  );
}

function Rows({ bars: shown, label, width }: Sized & { bars: readonly Bar[] }) {
  const locale = formatLocale.value;
  const left = Math.ceil(Math.min(width * NAMES, roomFor(shown.map(({ name }) => name))));
  const widest = roomFor(shown.map(({ value }) => numberText(value, locale)));
  const inner = Math.max(40, width - left - widest);
  const values = shown.map(({ value }) => value);
  const x = numberScale(values, inner / 90, true).range([left, left + inner]);
  const top = TOP - 4;
  const height = top + shown.length * ROW + BOTTOM - 2;
  const marks = shown.map(({ name, value }, index) => ({
    words: `${name}: ${numberText(value, locale)}`,
    x: x(Math.max(0, value)),
    y: top + index * ROW,
    plain: shortened(name, left - 12) === name,
  }));
  return (
    <Marks
      {...{ label, width, height, marks }}
      nearest={(_, y) => Math.floor((y - top) / ROW)}
      draw={(index, chosen) => {
        const { name, value } = shown[index] as Bar;
        const [from, to] = [x(Math.min(0, value)), x(Math.max(0, value))];
        const y = top + index * ROW;
        const middle = { y: y + ROW / 2, "dominant-baseline": "central" } as const;
        return (
          <>
            {chosen && <rect class="band" x={0} y={y} width={width} height={ROW} />}
            <text class="bar-name" x={left - 8} {...middle}>
              {shortened(name, left - 12)}
            </text>
            <rect
              class="bar"
              x={from}
              y={y + (ROW - THICK) / 2}
              width={Math.max(1, to - from)}
              height={THICK}
              rx={2}
            />
            <text class="bar-value" x={to + 6} {...middle}>
              {numberText(value, locale)}
            </text>
          </>
        );
      }}
    >
      {x.ticks(inner / 90).map((tick) => (
        <line
          key={tick}
          class={tick === 0 ? "axis" : "grid"}
          x1={x(tick)}
          x2={x(tick)}
          y1={top}
          y2={height - BOTTOM + 6}
        />
      ))}
      <XAxis
        {...{ width, height }}
        ticks={x.ticks(inner / 90).map((tick) => ({ x: x(tick), text: numberText(tick, locale) }))}
      />
    </Marks>
  );
}
