// A number over time: a line for each series, with the points on it.

import { locale as formatLocale } from "../i18n/index.ts";
import type { LinePoint, Series } from "./charts.ts";
import { BOTTOM, levelsOf, Marks, nearestOf, type Sized, TOP, XAxis, YAxis } from "./Marks.tsx";
import { timeAxis } from "./scales.ts";
import { markText, momentText, numberText } from "./texts.ts";

interface Placed extends LinePoint {
  readonly series: number;
}

export function Lines({ series, label, width }: Sized & { series: readonly Series[] }) {
  const locale = formatLocale.value;
  const points = series.flatMap(({ points: own }, index) =>
    own.map((point): Placed => ({ ...point, series: index })),
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
            <li key={name}>
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
