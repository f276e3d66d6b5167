// Two numbers of each row against each other: a point a row, named where there is room.

import { locale as formatLocale } from "../i18n/index.ts";
import type { Chart, Dot } from "./charts.ts";
import { areaOf, spotsForNames } from "./labels.ts";
import { BOTTOM, levelsOf, Marks, nearestOf, type Sized, TOP, XAxis, YAxis } from "./Marks.tsx";
import { lineOf, shortened, widthOf } from "./measure.ts";
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
  const [value, by] = [chart.value.title, chart.by?.title ?? ""];
  const height = Math.round(Math.min(420, Math.max(260, width * 0.55)));
  const floor = height - BOTTOM - NAME;
  const values = dots.map((dot) => dot.value);
  const levels = levelsOf(values, [floor, TOP + NAME]);
  const { left } = levels;
  const count = (width - left) / 90;
  const places = dots.map((dot) => dot.across);
  const across = numberScale(places, count).range([left, width - 24]);
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
    y: levels.scale(dot.value),
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
      <YAxis levels={levels} right={width} />
      <XAxis {...{ ticks, width }} height={height - NAME} />
      <text class="tick" x={0} y={TOP + 2}>
        {shortened(value, width)}
        <title>{value}</title>
      </text>
      <text class="tick" x={width} y={height - 6} text-anchor="end">
        {shortened(by, width)}
        <title>{by}</title>
      </text>
    </Marks>
  );
}
