// A drawing of marks that the pointer and the arrow keys go over, each described in words.

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { locale } from "../i18n/index.ts";
import { measureRoom, widthOf } from "./measure.ts";
import type { Spot } from "./projection.ts";
import { isPowerOfTen, isWide, logScale, numberScale } from "./scales.ts";
import { formatNumberText } from "./texts.ts";
import { say } from "./words.ts";

/** A mark; its words are shown at its spot, in pixels from the top left. */
interface Mark extends Spot {
  /** Its description, such as “Earth: 12,742”. */
  readonly words: string;
  /** Whether the drawing itself shows it in full. */
  readonly plain?: boolean;
}

/** The props of every chart: its name and its maximum width. */
export interface Sized {
  readonly label: string;
  readonly width: number;
}

/** Room above the marks of a chart, and below them for the axis. */
export const TOP = 12;
export const BOTTOM = 30;

interface Props extends Sized {
  readonly height: number;
  readonly marks: readonly Mark[];
  /** The index of the mark nearest to a point in pixels; there may be none of it. */
  readonly nearest: (x: number, y: number) => number;
  /** Draws a mark; `chosen` if the pointer or the keys are on it. */
  readonly draw: (index: number, chosen: boolean) => ComponentChildren;
  readonly children?: ComponentChildren;
}

export function Marks({ label, width, height, marks, nearest, draw, children }: Props) {
  const [at, setAt] = useState<number | null>(null);
  const id = useId();
  const chosen = at === null ? null : (marks[at] ?? null);
  const go = (event: KeyboardEvent) => {
    const to = goal(event.key, at, marks.length);
    if (to === undefined) return;
    event.preventDefault();
    setAt(to);
  };
  const point = (event: PointerEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const found = nearest(event.clientX - box.left, event.clientY - box.top);
    setAt(marks[found] ? found : null);
  };
  return (
    <div
      class="marks"
      role="listbox"
      tabIndex={0}
      aria-label={`${label}. ${say.chartHelp}`}
      aria-activedescendant={at === null ? undefined : `${id}-${at}`}
      onKeyDown={go}
      onBlur={() => setAt(null)}
    >
      <svg
        {...{ width, height }}
        aria-hidden="true"
        onPointerMove={point}
        onPointerDown={point}
        onPointerLeave={() => setAt(null)}
      >
        {children}
        {marks.map((mark, index) => (
          <g key={mark.words}>{draw(index, index === at)}</g>
        ))}
      </svg>
      {marks.map((mark, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus (activedescendant)
        <span
          key={mark.words}
          id={`${id}-${index}`}
          class="seen-by-readers"
          role="option"
          aria-selected={index === at}
        >
          {mark.words}
        </span>
      ))}
      {chosen && !chosen.plain && <Told mark={chosen} width={width} />}
    </div>
  );
}

function Told({ mark: { words, x, y }, width }: { mark: Mark; width: number }) {
  const side = x > width / 2 ? { right: `${width - x + 10}px` } : { left: `${x + 10}px` };
  return (
    <div class="told raised" aria-hidden="true" style={{ top: `${y}px`, ...side }}>
      <bdi>{words}</bdi>
    </div>
  );
}

type Levels = ReturnType<typeof levelsOf>;

/** The levels of a chart between two heights, in pixels from the top; `left` is after their numbers. */
export function levelsOf(
  values: readonly number[],
  [floor, top]: readonly [number, number],
  { zero = false, whole = false, spread = false, count = (floor + BOTTOM) / 60 } = {},
) {
  const isLog = spread && isWide(values);
  const scale = isLog ? logScale(values) : numberScale(values, count, zero);
  scale.range([floor, top]);
  const isMark = (tick: number) => (isLog ? isPowerOfTen(tick) : !whole || Number.isInteger(tick));
  const ticks = scale.ticks(count).filter(isMark);
  const written = (level: number) => formatNumberText(level, locale.value);
  return { scale, ticks, isLog, written, left: measureRoom(ticks.map(written)) + 2 };
}

/** The levels of a chart, each a line across it with its number at the left. */
export function YAxis({ levels, right }: { levels: Levels; right: number }) {
  const { scale, ticks, written, left } = levels;
  return (
    <>
      {ticks.map((tick) => {
        const y = scale(tick);
        return (
          <g key={tick}>
            <line class={tick === 0 ? "axis" : "grid"} x1={left} x2={right} y1={y} y2={y} />
            <text class="tick" x={left - 8} y={y} text-anchor="end" dominant-baseline="central">
              {written(tick)}
            </text>
          </g>
        );
      })}
    </>
  );
}

/** Finds the mark nearest to a point; vertical distances count less by the factor `flat`. */
export function nearestOf(marks: readonly Spot[], flat = 1) {
  return (x: number, y: number) => {
    const away = marks.map((mark) => Math.hypot(mark.x - x, (mark.y - y) / flat));
    return away.indexOf(Math.min(...away));
  };
}

interface XAxisProps {
  readonly ticks: readonly { readonly x: number; readonly text: string }[];
  readonly width: number;
  readonly height: number;
}

/** The texts below a chart: those that have room, each within its frame. */
export function XAxis({ ticks, width, height }: XAxisProps) {
  let end = 0;
  return (
    <>
      {ticks.map(({ x, text }) => {
        const half = widthOf(text) / 2;
        const middle = Math.min(Math.max(x, half), width - half);
        if (middle - half < end) return null;
        end = middle + half + 8;
        return (
          <text key={x} class="tick" x={middle} y={height - 8} text-anchor="middle">
            {text}
          </text>
        );
      })}
    </>
  );
}

/** The mark that a key moves to; null for none, undefined for other keys. */
function goal(key: string, at: number | null, count: number): number | null | undefined {
  const last = count - 1;
  const next = at === null ? 0 : Math.min(last, at + 1);
  const before = at === null ? last : Math.max(0, at - 1);
  const goals: Readonly<Record<string, number | null | undefined>> = {
    ...{ ArrowRight: next, ArrowDown: next, ArrowLeft: before, ArrowUp: before },
    ...{ Home: 0, End: last, Escape: at === null ? undefined : null },
  };
  return goals[key];
}
