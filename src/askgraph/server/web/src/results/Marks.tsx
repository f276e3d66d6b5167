// A drawing of marks that the pointer and the arrow keys go over, each described in words.

import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { widthOf } from "./measure.ts";
import { say } from "./words.ts";

interface Mark {
  /** Its description, as “Earth: 12,742”. */
  readonly words: string;
  /** Where its words are shown, in pixels from the top left. */
  readonly x: number;
  readonly y: number;
  /** Whether the drawing itself shows it in full. */
  readonly plain?: boolean;
}

/** What every chart is given: what it is called, and how wide it may be. */
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
  /** The background of the marks: axes and lines. */
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

function Told({ mark, width }: { mark: Mark; width: number }) {
  const side =
    mark.x > width / 2 ? { right: `${width - mark.x + 10}px` } : { left: `${mark.x + 10}px` };
  return (
    <div class="told" aria-hidden="true" style={{ top: `${mark.y}px`, ...side }}>
      <bdi>{mark.words}</bdi>
    </div>
  );
}

interface YAxisProps {
  readonly levels: readonly number[];
  readonly left: number;
  readonly right: number;
  /** Where a level lies, in pixels from the top. */
  readonly at: (level: number) => number;
  readonly written: (level: number) => string;
}

/** The levels of a chart, each a line across it with its number at the left. */
export function YAxis({ levels, left, right, at, written }: YAxisProps) {
  return (
    <>
      {levels.map((level) => (
        <g key={level}>
          <line
            class={level === 0 ? "axis" : "grid"}
            x1={left}
            x2={right}
            y1={at(level)}
            y2={at(level)}
          />
          <text
            class="tick"
            x={left - 8}
            y={at(level)}
            text-anchor="end"
            dominant-baseline="central"
          >
            {written(level)}
          </text>
        </g>
      ))}
    </>
  );
}

/** Finds the mark nearest to a point; what lies above or below is nearer by `flat`. */
export function nearestOf(
  marks: readonly { readonly x: number; readonly y: number }[],
  flat = 1,
): (x: number, y: number) => number {
  return (x, y) => {
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

function goal(key: string, at: number | null, count: number): number | null | undefined {
  switch (key) {
    case "ArrowRight":
    case "ArrowDown":
      return at === null ? 0 : Math.min(count - 1, at + 1);
    case "ArrowLeft":
    case "ArrowUp":
      return at === null ? count - 1 : Math.max(0, at - 1);
    case "Home":
      return 0;
    case "End":
      return count - 1;
    case "Escape":
      return at === null ? undefined : null;
    default:
      return undefined;
  }
}
