// The result as a chart, with the choice of charts that the columns suggest.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Row } from "../api/types.ts";
import { locale as formatLocale } from "../i18n/index.ts";
import { QuietButton, Select } from "../parts/parts.tsx";
import type { Bar, Bin, Chart, Dot, LinePoint, Series } from "./charts.ts";
import { bars, bins, dots, FIRST_BARS, keyOf, lines, MOST_BARS, valuesOf } from "./charts.ts";
import type { Column } from "./columns.ts";
import { areaOf, spotsForNames } from "./labels.ts";
import { BOTTOM, levelsOf, Marks, nearestOf, type Sized, TOP, XAxis, YAxis } from "./Marks.tsx";
import { lineOf, measureRoom, shortenText, useWidth, widthOf } from "./measure.ts";
import { Pictures } from "./Pictures.tsx";
import { binBounds, numberScale, timeAxis, yearBounds, yearOf } from "./scales.ts";
import { type Source, useSorted } from "./sorting.ts";
import { formatMoment, formatNumberText, markText } from "./texts.ts";
import { say } from "./words.ts";

interface ChartViewProps {
  readonly charts: readonly Chart[];
  readonly rows: readonly Row[];
  readonly ordered: boolean;
  /** How many rows there are, and the note that the page has only the first. */
  readonly total: number;
  readonly part: () => ComponentChildren;
  readonly source: Source | null;
  readonly isWhole: boolean;
  readonly about: readonly string[];
  readonly chosen: string | null;
  readonly onChoose: (key: string) => void;
}

export function ChartView({ charts, rows, ordered, chosen, onChoose, ...more }: ChartViewProps) {
  const [element, width] = useWidth<HTMLElement>();
  const locale = formatLocale.value;
  const chart = charts.find((each) => keyOf(each) === chosen) ?? charts[0];
  const isBars = chart?.kind === "bars";
  const sorted = useSorted(isBars && !ordered ? more.source : null, chart?.value, true);
  if (!chart) return null;
  const isFirst = isBars && (sorted !== null || ordered) && more.total > rows.length;
  const label = titleOf(chart);
  const sized = { label, width };
  const withoutValue = rows.filter((row) => !row[chart.value.index]).length;
  return (
    <figure class="chart stack close" ref={element}>
      <div class="row spread">
        {charts.length > 1 ? (
          <Select
            class="chart-choice narrow"
            label={say.show}
            labelled="seen-by-readers"
            slim
            value={keyOf(chart)}
            options={charts.map((each) => [keyOf(each), titleOf(each)])}
            onChoose={onChoose}
          />
        ) : (
          <figcaption class="label">{label}</figcaption>
        )}
        <Pictures
          name={label}
          about={more.about}
          drawing={() => element.current?.querySelector(".marks svg")}
        />
      </div>
      {sorted === undefined && <p class="muted later">{say.loading}</p>}
      {width > 0 && isBars && sorted !== undefined && (
        <Bars
          bars={bars(chart, sorted?.cells ?? rows, locale, ordered)}
          {...{ ordered, total: isFirst ? more.total : null, ...sized }}
        />
      )}
      {width > 0 && chart.kind === "line" && (
        <Lines series={lines(chart, rows, locale, more.isWhole)} {...sized} />
      )}
      {width > 0 && chart.kind === "scatter" && (
        <Dots dots={dots(chart, rows, locale)} chart={chart} {...sized} />
      )}
      {width > 0 && chart.kind === "histogram" && (
        <Histogram column={chart.value} values={valuesOf(chart.value, rows)} {...sized} />
      )}
      {withoutValue > 0 && (
        <p class="muted small">{say.notDrawn(withoutValue, chart.value.title)}</p>
      )}
      {!isFirst && more.part()}
    </figure>
  );
}

/** A number in the reader's language. */
const writeNumber = (value: number) => formatNumberText(value, formatLocale.value);

function titleOf({ kind, value, by }: Chart): string {
  if (by === null) return say.spread(value.title);
  const words = kind === "scatter" ? say.against : kind === "line" ? say.over : say.chartOf;
  return words(value.title, by.title);
}

// Bars: one per row, with the name at the left and the number at the end.

const ROW = 28;
const THICK = 18;
/** The share of the width that names may take. */
const NAMES = 0.45;

interface BarsProps extends Sized {
  readonly bars: readonly Bar[];
  readonly ordered: boolean;
  /** How many there are if these are only the first; else null. */
  readonly total: number | null;
}

/** The first bars, and on demand the rest. */
function Bars({ bars: all, ordered, total, ...sized }: BarsProps) {
  const [isWhole, showAll] = useState(false);
  const shown = all.slice(0, isWhole ? MOST_BARS : FIRST_BARS);
  return (
    <>
      <Rows bars={shown} {...sized} />
      {shown.length < all.length && (
        <p class="row muted small">
          <span>
            {(ordered ? say.barsFirst : say.barsLargest)(shown.length, total ?? all.length)}
          </span>
          {!isWhole && (
            <QuietButton onClick={() => showAll(true)}>
              {say.barsMore(Math.min(all.length, MOST_BARS))}
            </QuietButton>
          )}
        </p>
      )}
    </>
  );
}

function Rows({ bars: shown, label, width }: Sized & { bars: readonly Bar[] }) {
  const left = Math.ceil(Math.min(width * NAMES, measureRoom(shown.map(({ name }) => name))));
  const widest = measureRoom(shown.map(({ value }) => writeNumber(value)));
  const inner = Math.max(40, width - left - widest);
  const values = shown.map(({ value }) => value);
  const x = numberScale(values, inner / 90, true).range([left, left + inner]);
  const whole = values.every(Number.isInteger); // there is no half of what is counted
  const ticks = x.ticks(inner / 90).filter((tick) => !whole || Number.isInteger(tick));
  const top = TOP - 4;
  const height = top + shown.length * ROW + BOTTOM - 2;
  const marks = shown.map(({ name, value }, index) => ({
    words: `${name}: ${writeNumber(value)}`,
    x: x(Math.max(0, value)),
    y: top + index * ROW,
    plain: shortenText(name, left - 12) === name,
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
            <text class="bar-name" text-anchor="end" x={left - 8} {...middle}>
              {shortenText(name, left - 12)}
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
              {writeNumber(value)}
            </text>
          </>
        );
      }}
    >
      {ticks.map((tick) => (
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
        ticks={ticks.map((tick) => ({ x: x(tick), text: writeNumber(tick) }))}
      />
    </Marks>
  );
}

// How often values occur: a column for each class of values.

interface HistogramProps extends Sized {
  readonly column: Column;
  readonly values: readonly number[];
}

function Histogram({ column, values, label, width }: HistogramProps) {
  const times = column.kind === "time";
  const bounds = times ? yearBounds(values) : binBounds(values);
  const classes = bins(values, bounds);
  const writeBound = (bound: number) => (times ? String(yearOf(bound)) : writeNumber(bound));
  const height = Math.round(Math.min(340, Math.max(220, width * 0.42)));
  const counts = classes.map(({ count }) => count);
  const levels = levelsOf(counts, [height - BOTTOM, TOP], { zero: true, whole: true });
  const { left, scale: y } = levels;
  const right = width - 24;
  const one = (right - left) / classes.length;
  const marks = classes.map((bin, index) => ({
    words: `${rangeOf(bin, times, writeBound)}: ${say.rows(bin.count)}`,
    x: left + (index + 0.5) * one,
    y: y(bin.count),
  }));
  const every = Math.max(1, Math.ceil((measureRoom(bounds.map(writeBound)) + 2) / one));
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
          .map((bound, index) => ({ x: left + index * one, text: writeBound(bound) }))
          .filter((_, index) => index % every === 0)}
      />
    </Marks>
  );
}

function rangeOf(bin: Bin, times: boolean, write: (bound: number) => string): string {
  const [from, to] = [write(bin.from), write(times ? bin.to - 1 : bin.to)];
  return from === to ? from : say.range(from, to);
}

// A number over time: a line for each series, with the points on it.

type Placed = LinePoint & { readonly series: number };

function Lines({ series, label, width }: Sized & { series: readonly Series[] }) {
  const locale = formatLocale.value;
  const points = series.flatMap(({ runs }, index) =>
    runs.flat().map((point): Placed => ({ ...point, series: index })),
  );
  const height = Math.round(Math.min(380, Math.max(240, width * 0.5)));
  const values = points.map(({ value }) => value);
  const levels = levelsOf(values, [height - BOTTOM, TOP]);
  const { left } = levels;
  const inner = width - left - 16;
  const moments = points.map(({ moment }) => moment.time);
  const times = timeAxis(moments, inner / 90);
  times.scale.range([left, left + inner]);
  const x = ({ moment }: LinePoint) => times.scale(moment.time);
  const y = ({ value }: LinePoint) => levels.scale(value);
  const marks = points.map((point) => ({
    words: told(point, series, locale),
    x: x(point),
    y: y(point),
  }));
  return (
    <>
      {series.length > 1 && (
        <ul class="legend row loose muted small">
          {series.map(({ name }, index) => (
            <li key={name} class="row">
              <span class="swatch" style={shade(index)} />
              <bdi>{name}</bdi>
            </li>
          ))}
        </ul>
      )}
      <Marks
        {...{ label, width, height, marks }}
        nearest={nearestOf(marks, 3)}
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
        <YAxis levels={levels} right={width} />
        <XAxis
          {...{ width, height }}
          ticks={times.ticks.map((tick) => ({
            x: times.scale(tick),
            text: markText(tick.getTime(), times.precision, locale),
          }))}
        />
        {series.map(({ name, runs }, index) => (
          <path
            key={name}
            class="line"
            style={shade(index)}
            d={runs
              .map((run) => `M${run.map((one) => `${x(one).toFixed(1)},${y(one).toFixed(1)}`)}`)
              .join("")}
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
  const said = `${formatMoment(point.moment, locale) ?? ""}: ${formatNumberText(point.value, locale)}`;
  return name ? `${name}, ${said}` : said;
}

// A scatter plot: one point per row, named where there is room.

/** Room below the horizontal axis for its name. */
const NAME = 18;

function Dots({ dots, chart, label, width }: Sized & { dots: readonly Dot[]; chart: Chart }) {
  const [value, by] = [chart.value.title, chart.by?.title ?? ""];
  const height = Math.round(Math.min(420, Math.max(260, width * 0.55)));
  const floor = height - BOTTOM - NAME;
  const values = dots.map((dot) => dot.value);
  const levels = levelsOf(values, [floor, TOP + NAME], { spread: true });
  const { left } = levels;
  const places = dots.map((dot) => dot.across);
  const across = levelsOf(places, [left, width - 24], { spread: true, count: (width - left) / 90 });
  const ticks = across.ticks.map((at) => ({ x: across.scale(at), text: writeNumber(at) }));
  const up = levels.isLog ? say.logScale(value) : value;
  const right = across.isLog ? say.logScale(by) : by;
  const marks = dots.map((dot) => ({
    words: [
      ...(dot.name ? [dot.name] : []),
      `${by} ${writeNumber(dot.across)}`,
      `${value} ${writeNumber(dot.value)}`,
    ].join(", "),
    x: across.scale(dot.across),
    y: levels.scale(dot.value),
  }));
  const names = spotsForNames(
    dots.map(({ name }, at) => ({ ...(marks[at] ?? { x: 0, y: 0 }), name, wide: widthOf(name) })),
    { width, height: floor, line: lineOf() },
    [areaOf(0, 0, left, height), areaOf(0, 0, widthOf(up), TOP + NAME)],
  );
  return (
    <Marks
      {...{ label, width, height, marks }}
      nearest={nearestOf(marks)}
      draw={(index, chosen) => {
        const { x = 0, y = 0 } = marks[index] ?? {};
        const spot = names[index];
        return (
          <>
            <circle class="point dot" cx={x} cy={y} r={chosen ? 7 : 4.5} />
            {spot && (
              <text class="dot-name" x={spot.x} y={spot.y} text-anchor={spot.anchor}>
                {dots[index]?.name}
              </text>
            )}
          </>
        );
      }}
    >
      <YAxis levels={levels} right={width} />
      <XAxis {...{ ticks, width }} height={height - NAME} />
      <text class="tick" x={0} y={TOP + 2}>
        {shortenText(up, width)}
        <title>{up}</title>
      </text>
      <text class="tick" x={width} y={height - 6} text-anchor="end">
        {shortenText(right, width)}
        <title>{right}</title>
      </text>
    </Marks>
  );
}
