// How often values occur: a column for each class of values.

import { locale as formatLocale, formatNumber } from "../i18n/index.ts";
import { type Bin, bins } from "./charts.ts";
import { Marks } from "./Marks.tsx";
import { binBounds, numberScale, yearBounds, yearOf } from "./scales.ts";
import { numberText } from "./texts.ts";
import { words } from "./words.ts";

const TOP = 12;
const BOTTOM = 30;
const LETTER = 7.2;

interface Props {
  readonly values: readonly number[];
  /** Whether the values are times in milliseconds. */
  readonly times: boolean;
  readonly label: string;
  readonly width: number;
}

export function HistogramChart({ values, times, label, width }: Props) {
  const locale = formatLocale.value;
  const bounds = times ? yearBounds(values) : binBounds(values);
  const classes = bins(values, bounds);
  const written = (bound: number) => (times ? String(yearOf(bound)) : numberText(bound, locale));
  const height = Math.round(Math.min(340, Math.max(220, width * 0.42)));
  const counts = numberScale(
    classes.map(({ count }) => count),
    height / 60,
    true,
  );
  const levels = counts.ticks.filter(Number.isInteger);
  const left = Math.max(...levels.map((level) => formatNumber(level).length)) * LETTER + 14;
  const inner = width - left - 24;
  const one = inner / classes.length;
  const y = (count: number) => height - BOTTOM - counts.at(count) * (height - TOP - BOTTOM);
  const marks = classes.map((bin, index) => ({
    words: `${rangeOf(bin, times, written)}: ${words().rows(bin.count, formatNumber(bin.count))}`,
    x: left + (index + 0.5) * one,
    y: y(bin.count),
  }));
  const widest = Math.max(...bounds.map((bound) => written(bound).length)) * LETTER + 14;
  const every = Math.max(1, Math.ceil(widest / one));
  return (
    <Marks
      {...{ label, width, height, marks }}
      nearest={(x) => {
        const index = Math.floor((x - left) / one);
        return index >= 0 && index < classes.length ? index : null;
      }}
      draw={(index, chosen) => {
        const { count } = classes[index] as Bin;
        const at = left + index * one;
        return (
          <>
            {chosen && (
              <rect class="band" x={at} y={TOP} width={one} height={height - TOP - BOTTOM} />
            )}
            <rect
              class="bar"
              x={at + 1}
              y={y(count)}
              width={Math.max(1, one - 2)}
              height={height - BOTTOM - y(count)}
              rx={2}
            />
          </>
        );
      }}
    >
      {levels.map((level) => (
        <g key={level}>
          <line
            class={level === 0 ? "axis" : "grid"}
            x1={left}
            x2={width - 24}
            y1={y(level)}
            y2={y(level)}
          />
          <text
            class="tick"
            x={left - 8}
            y={y(level)}
            text-anchor="end"
            dominant-baseline="central"
          >
            {formatNumber(level)}
          </text>
        </g>
      ))}
      {bounds.map((bound, index) =>
        index % every === 0 ? (
          <text key={bound} class="tick" x={left + index * one} y={height - 8} text-anchor="middle">
            {written(bound)}
          </text>
        ) : null,
      )}
    </Marks>
  );
}

function rangeOf(bin: Bin, times: boolean, written: (bound: number) => string): string {
  const last = times ? bin.to - 1 : bin.to;
  return written(bin.from) === written(last)
    ? written(bin.from)
    : words().range(written(bin.from), written(last));
}
