// A number over time, a line for each series, with the points on it.

import { locale as formatLocale } from "../i18n/index.ts";
import type { LinePoint, Series } from "./charts.ts";
import { Marks } from "./Marks.tsx";
import { numberScale, timeScale } from "./scales.ts";
import { markText, momentText, numberText } from "./texts.ts";

const TOP = 12;
const BOTTOM = 30;
const LETTER = 7.2;

interface Props {
  readonly series: readonly Series[];
  readonly label: string;
  readonly width: number;
}

interface Placed extends LinePoint {
  readonly series: number;
}

export function LineChart({ series, label, width }: Props) {
  const locale = formatLocale.value;
  const points = series.flatMap(({ points: own }, index) =>
    own.map((point): Placed => ({ ...point, series: index })),
  );
  const height = Math.round(Math.min(380, Math.max(240, width * 0.5)));
  const values = numberScale(
    points.map(({ value }) => value),
    height / 60,
  );
  const left =
    Math.max(...values.ticks.map((tick) => numberText(tick, locale).length)) * LETTER + 14;
  const inner = width - left - 16;
  const times = timeScale(
    points.map(({ moment }) => moment.time),
    inner / 90,
  );
  const x = ({ moment }: LinePoint) => left + times.at(moment.time) * inner;
  const y = ({ value }: LinePoint) => height - BOTTOM - values.at(value) * (height - TOP - BOTTOM);
  const marks = points.map((point) => ({
    words: told(point, series, locale),
    x: x(point),
    y: y(point),
  }));
  const nearest = (px: number, py: number) => {
    const away = marks.map((mark) => Math.hypot(mark.x - px, (mark.y - py) / 3));
    return away.length === 0 ? null : away.indexOf(Math.min(...away));
  };
  return (
    <>
      {series.length > 1 && <Legend series={series} />}
      <Marks
        {...{ label, width, height, marks, nearest }}
        draw={(index, chosen) => {
          const point = points[index] as Placed;
          const radius = chosen ? 6 : points.length > 80 ? 2 : 3.5;
          return (
            <circle class={`point ${shade(point.series)}`} cx={x(point)} cy={y(point)} r={radius} />
          );
        }}
      >
        {values.ticks.map((tick) => {
          const level = height - BOTTOM - values.at(tick) * (height - TOP - BOTTOM);
          return (
            <g key={tick}>
              <line
                class={tick === 0 ? "axis" : "grid"}
                x1={left}
                x2={width}
                y1={level}
                y2={level}
              />
              <text
                class="tick"
                x={left - 8}
                y={level}
                text-anchor="end"
                dominant-baseline="central"
              >
                {numberText(tick, locale)}
              </text>
            </g>
          );
        })}
        {times.ticks.map((tick) => (
          <text
            key={tick}
            class="tick"
            x={left + times.at(tick) * inner}
            y={height - 8}
            text-anchor="middle"
          >
            {markText(tick, times.precision, locale)}
          </text>
        ))}
        {series.map(({ name, points: own }, index) => (
          <polyline
            key={name}
            class={`line ${shade(index)}`}
            points={own.map((point) => `${x(point).toFixed(1)},${y(point).toFixed(1)}`).join(" ")}
          />
        ))}
      </Marks>
    </>
  );
}

function Legend({ series }: { series: readonly Series[] }) {
  return (
    <ul class="legend">
      {series.map(({ name }, index) => (
        <li key={name}>
          <span class={`swatch ${shade(index)}`} />
          <bdi>{name}</bdi>
        </li>
      ))}
    </ul>
  );
}

function shade(index: number): string {
  return `series-${(index % 5) + 1}`;
}

function told(point: Placed, series: readonly Series[], locale: string): string {
  const name = series[point.series]?.name;
  const said = `${momentText(point.moment, locale) ?? ""}: ${numberText(point.value, locale)}`;
  return name ? `${name}, ${said}` : said;
}
