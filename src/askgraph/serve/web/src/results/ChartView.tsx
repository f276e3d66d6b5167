// The result as a chart, with the choice of charts that the columns suggest.

import { useMemo, useState } from "preact/hooks";
import type { Row } from "../api/types.ts";
import { locale as formatLocale, formatNumber } from "../i18n/index.ts";
import { Select } from "../parts/parts.tsx";
import {
  type Bar,
  type Bin,
  bars,
  bins,
  type Chart,
  chartName,
  type LinePoint,
  lines,
  MOST_BARS,
  type Series,
  valuesOf,
} from "./charts.ts";
import { Marks, roomFor, XTick, YAxis } from "./Marks.tsx";
import { binBounds, numberScale, timeAxis, yearBounds, yearOf } from "./scales.ts";
import { markText, momentText, numberText } from "./texts.ts";
import { useWidth } from "./useWidth.ts";
import { say } from "./words.ts";

interface Sized {
  readonly label: string;
  readonly width: number;
}

/** Room above the marks of a chart, and below them for the axis. */
const TOP = 12;
const BOTTOM = 30;

export function ChartView({ charts, rows }: { charts: readonly Chart[]; rows: readonly Row[] }) {
  const [chosen, setChosen] = useState(0);
  const [element, width] = useWidth<HTMLElement>();
  const chart = charts[chosen] ?? charts[0];
  return (
    <figure class="chart stack near" ref={element}>
      {charts.length > 1 ? (
        <Select
          class="chart-choice"
          label={say.show}
          labelled="seen-by-readers"
          value={chosen}
          options={charts.map((each, index) => [index, titleOf(each)])}
          onChoose={(index) => setChosen(Number(index))}
        />
      ) : (
        chart && <figcaption>{titleOf(chart)}</figcaption>
      )}
      {chart && width > 0 && <Drawn chart={chart} rows={rows} width={width} />}
    </figure>
  );
}

function Drawn({ chart, rows, width }: { chart: Chart; rows: readonly Row[]; width: number }) {
  const locale = formatLocale.value;
  const label = titleOf(chart);
  const drawn = useMemo(() => {
    switch (chart.kind) {
      case "bars": {
        const own = bars(chart, rows, locale);
        return (at: number) => <Bars bars={own} label={label} width={at} />;
      }
      case "line": {
        const series = lines(chart, rows, locale);
        return (at: number) => <Lines series={series} label={label} width={at} />;
      }
      case "histogram": {
        const values = valuesOf(chart.value, rows);
        const times = chart.value.kind === "time";
        return (at: number) => <Histogram {...{ values, times, label }} width={at} />;
      }
    }
  }, [chart, rows, locale, label]);
  return drawn(width);
}

function titleOf(chart: Chart): string {
  const { value, by } = chartName(chart);
  if (chart.kind === "histogram" || by === null) return say.spread(value);
  return chart.kind === "line" ? say.over(value, by) : say.chartOf(value, by);
}

const ROW = 28;
const THICK = 18;

/** Bars: one a row, named at its left, its number at its end. */
function Bars({ bars: all, label, width }: Sized & { bars: readonly Bar[] }) {
  const shown = all.slice(0, MOST_BARS);
  const locale = formatLocale.value;
  const left = Math.ceil(Math.min(width * 0.38, 240, roomFor(shown.map(({ name }) => name))));
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
    plain: shortened(name, left) === name,
  }));
  return (
    <>
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
                {shortened(name, left)}
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
          <g key={tick}>
            <line
              class={tick === 0 ? "axis" : "grid"}
              x1={x(tick)}
              x2={x(tick)}
              y1={top}
              y2={height - BOTTOM + 6}
            />
            <XTick x={x(tick)} height={height} text={numberText(tick, locale)} />
          </g>
        ))}
      </Marks>
      {all.length > shown.length && (
        <p class="muted small">{say.barsCut(shown.length, all.length)}</p>
      )}
    </>
  );
}

function shortened(name: string, width: number): string {
  const letters = Math.max(3, Math.floor((width - 12) / roomFor(["x"], 0)));
  return name.length <= letters + 1 ? name : `${[...name].slice(0, letters - 1).join("")}…`;
}

interface Placed extends LinePoint {
  readonly series: number;
}

/** A number over time, a line for each series, with the points on it. */
function Lines({ series, label, width }: Sized & { series: readonly Series[] }) {
  const locale = formatLocale.value;
  const points = series.flatMap(({ points: own }, index) =>
    own.map((point): Placed => ({ ...point, series: index })),
  );
  const height = Math.round(Math.min(380, Math.max(240, width * 0.5)));
  const values = points.map(({ value }) => value);
  const level = numberScale(values, height / 60).range([height - BOTTOM, TOP]);
  const levels = level.ticks(height / 60);
  const left = roomFor(levels.map((tick) => numberText(tick, locale))) + 2;
  const inner = width - left - 16;
  const moments = points.map(({ moment }) => moment.time);
  const times = timeAxis(moments, inner / 90);
  times.scale.range([left, left + inner]);
  const x = ({ moment }: LinePoint) => times.scale(moment.time);
  const y = ({ value }: LinePoint) => level(value);
  const marks = points.map((point) => ({
    words: told(point, series, locale),
    x: x(point),
    y: y(point),
  }));
  return (
    <>
      {series.length > 1 && (
        <ul class="legend row muted small">
          {series.map(({ name }, index) => (
            <li key={name}>
              <span class="swatch" style={shade(index)} />
              <bdi>{name}</bdi>
            </li>
          ))}
        </ul>
      )}
      <Marks
        {...{ label, width, height, marks }}
        nearest={(px, py) => {
          const away = marks.map((mark) => Math.hypot(mark.x - px, (mark.y - py) / 3));
          return away.indexOf(Math.min(...away));
        }}
        draw={(index, chosen) => {
          const point = points[index] as Placed;
          const radius = chosen ? 6 : points.length > 80 ? 2 : 3.5;
          return (
            <circle
              class="point"
              style={shade(point.series)}
              cx={x(point)}
              cy={y(point)}
              r={radius}
            />
          );
        }}
      >
        <YAxis
          {...{ levels, left }}
          right={width}
          at={level}
          written={(tick) => numberText(tick, locale)}
        />
        {times.ticks.map((tick) => (
          <XTick
            key={tick}
            x={times.scale(tick)}
            height={height}
            text={markText(tick.getTime(), times.precision, locale)}
          />
        ))}
        {series.map(({ name, points: own }, index) => (
          <polyline
            key={name}
            class="line"
            style={shade(index)}
            points={own.map((point) => `${x(point).toFixed(1)},${y(point).toFixed(1)}`).join(" ")}
          />
        ))}
      </Marks>
    </>
  );
}

/** The colour of a series, as a property that its line, points and legend use. */
function shade(index: number) {
  return { "--shade": `var(--series-${(index % 5) + 1})` };
}

function told(point: Placed, series: readonly Series[], locale: string): string {
  const name = series[point.series]?.name;
  const said = `${momentText(point.moment, locale) ?? ""}: ${numberText(point.value, locale)}`;
  return name ? `${name}, ${said}` : said;
}

interface HistogramProps extends Sized {
  readonly values: readonly number[];
  /** Whether the values are times in milliseconds. */
  readonly times: boolean;
}

/** How often values occur: a column for each class of values. */
function Histogram({ values, times, label, width }: HistogramProps) {
  const locale = formatLocale.value;
  const bounds = times ? yearBounds(values) : binBounds(values);
  const classes = bins(values, bounds);
  const written = (bound: number) => (times ? String(yearOf(bound)) : numberText(bound, locale));
  const height = Math.round(Math.min(340, Math.max(220, width * 0.42)));
  const counts = classes.map(({ count }) => count);
  const y = numberScale(counts, height / 60, true).range([height - BOTTOM, TOP]);
  const levels = y.ticks(height / 60).filter(Number.isInteger);
  const left = roomFor(levels.map(formatNumber)) + 2;
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
      <YAxis {...{ levels, left, right }} at={y} written={formatNumber} />
      {bounds.map(
        (bound, index) =>
          index % every === 0 && (
            <XTick key={bound} x={left + index * one} height={height} text={written(bound)} />
          ),
      )}
    </Marks>
  );
}

function rangeOf(bin: Bin, times: boolean, written: (bound: number) => string): string {
  const [from, to] = [written(bin.from), written(times ? bin.to - 1 : bin.to)];
  return from === to ? from : say.range(from, to);
}
