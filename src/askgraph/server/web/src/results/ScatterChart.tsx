// Two numbers of each row against each other: a point a row, named where there is room.

import { locale as formatLocale } from "../i18n/index.ts";
import { type Chart, chartName, type Dot } from "./charts.ts";
import { areaOf, spotsForNames } from "./labels.ts";
import { BOTTOM, Marks, nearestOf, type Sized, TOP, XAxis, YAxis } from "./Marks.tsx";
import { lineOf, roomFor, shortened, widthOf } from "./measure.ts";
import { numberScale } from "./scales.ts";
import { numberText } from "./texts.ts";

/** Room below the axis for the name of what lies across. */
const NAME = 18;

export function Dots({
  dots,
  chart,
  label,
  width,
}: Sized & { dots: readonly Dot[]; chart: Chart }) {
  const locale = formatLocale.value;
  const { value, by } = chartName(chart);
  const height = Math.round(Math.min(420, Math.max(260, width * 0.55)));
  const floor = height - BOTTOM - NAME;
  const level = numberScale(
    dots.map((dot) => dot.value),
    height / 60,
  ).range([floor, TOP + NAME]);
  const levels = level.ticks(height / 60);
  const left = roomFor(levels.map((tick) => numberText(tick, locale))) + 2;
  const count = (width - left) / 90;
  const across = numberScale(
    dots.map((dot) => dot.across),
    count,
  );
  across.range([left, width - 24]);
  const ticks = across.ticks(count).map((at) => ({ x: across(at), text: numberText(at, locale) }));
  const marks = dots.map((dot) => ({
    words: [
      dot.name,
      `${by} ${numberText(dot.across, locale)}`,
      `${value} ${numberText(dot.value, locale)}`,
    ]
      .filter(Boolean)
      .join(", "),
    x: across(dot.across),
    y: level(dot.value),
  }));
  const names = spotsForNames(
    dots.map(({ name }, at) => ({ ...(marks[at] ?? { x: 0, y: 0 }), name, wide: widthOf(name) })),
    { width, height: floor, line: lineOf() },
    [areaOf(0, 0, left, height), areaOf(0, 0, widthOf(value), TOP + NAME)],
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
      <YAxis
        {...{ levels, left }}
        right={width}
        at={level}
        written={(tick) => numberText(tick, locale)}
      />
      <XAxis {...{ ticks, width }} height={height - NAME} />
      <text class="tick" x={0} y={TOP + 2}>
        {shortened(value, width)}
        <title>{value}</title>
      </text>
      <text class="tick" x={width} y={height - 6} text-anchor="end">
        {shortened(by ?? "", width)}
        <title>{by}</title>
      </text>
    </Marks>
  );
}
