// Bars: one a row, named at its left, its number at its end.

import { locale as formatLocale, formatNumber } from "../i18n/index.ts";
import { type Bar, MOST_BARS } from "./charts.ts";
import { Marks } from "./Marks.tsx";
import { numberScale } from "./scales.ts";
import { numberText } from "./texts.ts";
import { words } from "./words.ts";

const ROW = 28;
const THICK = 18;
const TOP = 8;
const AXIS = 28;
const LETTER = 7.2;

interface Props {
  readonly bars: readonly Bar[];
  readonly label: string;
  readonly width: number;
}

export function BarsChart({ bars, label, width }: Props) {
  const shown = bars.slice(0, MOST_BARS);
  const locale = formatLocale.value;
  const longest = Math.max(...shown.map(({ name }) => name.length));
  const left = Math.ceil(Math.min(width * 0.38, 240, longest * LETTER + 12));
  const widest =
    Math.max(...shown.map(({ value }) => numberText(value, locale).length)) * LETTER + 12;
  const inner = Math.max(40, width - left - widest);
  const scale = numberScale(
    shown.map(({ value }) => value),
    inner / 90,
    true,
  );
  const at = (value: number) => left + scale.at(value) * inner;
  const height = TOP + shown.length * ROW + AXIS;
  const marks = shown.map(({ name, value }, index) => ({
    words: `${name}: ${numberText(value, locale)}`,
    x: at(Math.max(0, value)),
    y: TOP + index * ROW,
    plain: shortened(name, left) === name,
  }));
  const row = (_: number, y: number) => {
    const index = Math.floor((y - TOP) / ROW);
    return index >= 0 && index < shown.length ? index : null;
  };
  return (
    <>
      <Marks
        {...{ label, width, height, marks }}
        nearest={row}
        draw={(index, chosen) => {
          const { name, value } = shown[index] as Bar;
          const [from, to] = [Math.min(at(0), at(value)), Math.max(at(0), at(value))];
          const y = TOP + index * ROW;
          return (
            <>
              {chosen && <rect class="band" x={0} y={y} width={width} height={ROW} />}
              <text class="bar-name" x={left - 8} y={y + ROW / 2} dominant-baseline="central">
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
              <text class="bar-value" x={to + 6} y={y + ROW / 2} dominant-baseline="central">
                {numberText(value, locale)}
              </text>
            </>
          );
        }}
      >
        {scale.ticks.map((tick) => (
          <g key={tick}>
            <line
              class={tick === 0 ? "axis" : "grid"}
              x1={at(tick)}
              x2={at(tick)}
              y1={TOP}
              y2={height - AXIS + 4}
            />
            <text class="tick" x={at(tick)} y={height - 8} text-anchor="middle">
              {numberText(tick, locale)}
            </text>
          </g>
        ))}
      </Marks>
      {bars.length > shown.length && (
        <p class="muted small">
          {words().barsCut(formatNumber(shown.length), formatNumber(bars.length))}
        </p>
      )}
    </>
  );
}

function shortened(name: string, width: number): string {
  const letters = Math.max(3, Math.floor((width - 12) / LETTER));
  return name.length <= letters + 1 ? name : `${[...name].slice(0, letters - 1).join("")}…`;
}
