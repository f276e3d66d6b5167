// Moving and zooming a map: by mouse, by touch with one or two fingers, by keys.

import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { fitView, moveView, type Size, type Spot, spotAt, zoomView } from "./projection.ts";

const CLOSE = 256 * 2 ** 5;
/** Pixels that a pointer may travel in a click. */
export const SLACK = 4;
const STEP = 60; // pixels by a press of an arrow key
const NEARER = 1.6;
const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-STEP, 0],
  ArrowRight: [STEP, 0],
  ArrowUp: [0, -STEP],
  ArrowDown: [0, STEP],
};

/** The view of a map of a size that first shows all spots, and what moves it. */
export function usePanning(
  element: RefObject<HTMLElement | null>,
  spots: readonly Spot[],
  { width, height }: Size,
) {
  const size = { width, height };
  const middle = { x: width / 2, y: height / 2 };
  const [view, setView] = useState(() => fitView(spots, size));
  const fingers = useRef(new Map<number, Spot>());
  const travelled = useRef(0);
  // Until the map is clicked, the wheel scrolls the page.
  const awake = useRef(false);
  const isFirst = useRef(true);
  const fit = () => setView(fitView(spots, size));
  const move = ([right, down]: readonly [number, number]) =>
    setView((now) => moveView(now, right, down, size));
  const zoomAt = (at: Spot, factor: number) =>
    setView((now) => zoomView(now, factor, spotAt(at, now, size), size));
  /** The pixels of the map at a point of the window. */
  const here = ({ x, y }: Spot) => {
    const { left = 0, top = 0 } = element.current?.getBoundingClientRect() ?? {};
    return { x: x - left, y: y - top };
  };
  useEffect(() => {
    if (!isFirst.current) fit();
    isFirst.current = false;
  }, [spots, width, height]);
  useEffect(() => {
    const wheel = (event: WheelEvent) => {
      if (!awake.current && !event.ctrlKey) return;
      event.preventDefault();
      zoomAt(here({ x: event.clientX, y: event.clientY }), 2 ** (-event.deltaY / 240));
    };
    const shown = element.current;
    shown?.addEventListener("wheel", wheel, { passive: false });
    return () => shown?.removeEventListener("wheel", wheel);
  }, [width, height]);
  const onPointerMove = (event: PointerEvent) => {
    const before = fingers.current.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    const still = [...fingers.current.values()].find((one) => one !== before);
    if (still) {
      const factor = distance(now, still) / Math.max(1, distance(before, still));
      zoomAt(here({ x: (now.x + still.x) / 2, y: (now.y + still.y) / 2 }), factor);
    } else move([before.x - now.x, before.y - now.y]);
    travelled.current += distance(before, now);
    if (travelled.current > SLACK)
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
    fingers.current.set(event.pointerId, now);
  };
  const release = (event: PointerEvent) => {
    fingers.current.delete(event.pointerId);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey) return;
    const { key } = event;
    const arrow = ARROWS[key];
    if (arrow) move(arrow);
    else if (key === "+" || key === "=") zoomAt(middle, NEARER);
    else if (key === "-") zoomAt(middle, 1 / NEARER);
    else if (key === "0") fit();
    else return;
    event.preventDefault();
  };
  return {
    view,
    fit,
    zoom: (factor: number) => zoomAt(middle, factor),
    show: (spot: Spot) =>
      setView((now) => moveView({ ...spot, world: Math.max(now.world, CLOSE) }, 0, 0, size)),
    /** Whether the pointer has just dragged, so that its release is not a click. */
    dragged: () => travelled.current > SLACK,
    handlers: {
      onKeyDown,
      onPointerMove,
      onPointerUp: release,
      onPointerCancel: release,
      onPointerLeave: () => {
        awake.current = false;
      },
      onPointerDown: (event: PointerEvent) => {
        awake.current = true;
        if (fingers.current.size === 0) travelled.current = 0;
        fingers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
      },
    },
  };
}

function distance(one: Spot, other: Spot): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}
