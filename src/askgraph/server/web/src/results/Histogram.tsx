// How often values occur: a column for each class of values.

import { locale } from "../i18n/index.ts";
import { type Bin, bins } from "./charts.ts";
import type { Column } from "./columns.ts";
import { BOTTOM, levelsOf, Marks, type Sized, TOP, XAxis, YAxis } from "./Marks.tsx";
import { roomFor } from "./measure.ts";
import { binBounds, yearBounds, yearOf } from "./scales.ts";
import { numberText } from "./texts.ts";
import { say } from "./words.ts";

interface HistogramProps extends Sized {
  readonly column: Column;
  /** Its values; times in milliseconds. */
  readonly values: readonly number[];
}

export function Histogram({ column, values, label, width }: HistogramProps) {
  const times = column.kind === "time";
  const bounds = times ? yearBounds(values) : binBounds(values);
  const classes = bins(values, bounds);
  const written = (bound: number) =>
    times ? String(yearOf(bound)) : numberText(bound, locale.value);
  const height = Math.round(Math.min(340, Math.max(220, width * 0.42)));
  const counts = classes.map(({ count }) => count);
  const levels = levelsOf(counts, [height - BOTTOM, TOP], { zero: true, whole: true });
  const { left, scale: y } = levels;
  const right = width - 24;
  const one = (right - left) / classes.length;
  const marks = classes.map((bin, index) => ({
    words: `${rangeOf(bin, times, written)}: ${say.rows(bin.count)}`,
    x: left + (index + 0.5) * one,
    y: y(bin.count),
  }));
  const every = Math.max(1, Math.ceil((roomFor(bounds.map(written)) + 2) / one));
  return (
    <Marks
      {...{ label, width, height, marks }}
      nearest={(x) => Math.floor((x - left) / one)}
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
      <YAxis {...{ levels, right }} />
      <XAxis
        {...{ width, height }}
        ticks={bounds
          .map((bound, index) => ({ x: left + index * one, text: written(bound) }))
          .filter((_, index) => index % every === 0)}
      />
    </Marks>
  );
}

function rangeOf(bin: Bin, times: boolean, written: (bound: number) => string): string {
  const [from, to] = [written(bin.from), written(times ? bin.to - 1 : bin.to)];
  return from === to ? from : say.range(from, to);
}
