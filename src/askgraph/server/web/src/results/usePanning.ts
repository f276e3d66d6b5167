// Moving and zooming a map: by mouse, by touch with one or two fingers, by keys.

import { useEffect, useRef, useState } from "preact/hooks";
import { fitting, moved, type Spot, type View, zoomed } from "./projection.ts";

interface Panning {
  readonly view: View;
  readonly zoom: (factor: number) => void;
  readonly fit: () => void;
  readonly show: (spot: Spot) => void;
  /** Whether the pointer has just dragged, so that its release presses nothing. */
  readonly dragged: () => boolean;
  readonly handlers: {
    readonly onKeyDown: (event: KeyboardEvent) => void;
    readonly onPointerDown: (event: PointerEvent) => void;
    readonly onPointerMove: (event: PointerEvent) => void;
    readonly onPointerUp: (event: PointerEvent) => void;
    readonly onPointerCancel: (event: PointerEvent) => void;
    readonly onPointerLeave: () => void;
  };
}

const CLOSE = 256 * 2 ** 5;
const SLACK = 4;

/** The view of a map that is `width` by `height` pixels and first shows all spots. */
export function usePanning(
  element: { readonly current: Element | null },
  spots: readonly Spot[],
  width: number,
  height: number,
): Panning {
  const [view, setView] = useState(() => fitting(spots, width, height));
  const fingers = useRef(new Map<number, Spot>());
  const travelled = useRef(0);
  // Until it is pressed, the wheel scrolls the page past the map.
  const awake = useRef(false);
  const fit = () => setView(fitting(spots, width, height));
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) fit();
    isFirst.current = false;
  }, [spots, width, height]);
  const about = (x: number, y: number, factor: number) =>
    setView((now) => {
      const spot = {
        x: now.x + (x - width / 2) / now.world,
        y: now.y + (y - height / 2) / now.world,
      };
      return zoomed(now, factor, spot, width, height);
    });
  useEffect(() => {
    const wheel = (event: Event) => {
      if (!(event instanceof WheelEvent) || !element.current) return;
      if (!awake.current && !event.ctrlKey) return;
      event.preventDefault();
      const box = element.current.getBoundingClientRect();
      about(event.clientX - box.left, event.clientY - box.top, 2 ** (-event.deltaY / 240));
    };
    const shown = element.current;
    shown?.addEventListener("wheel", wheel, { passive: false });
    return () => shown?.removeEventListener("wheel", wheel);
  }, [width, height]);

  const onPointerMove = (event: PointerEvent) => {
    const before = fingers.current.get(event.pointerId);
    if (!before) return;
    const here = { x: event.clientX, y: event.clientY };
    const [one, other] = [...fingers.current.values()];
    if (one && other && element.current) {
      const still = before === one ? other : one;
      const box = element.current.getBoundingClientRect();
      const factor = distance(here, still) / Math.max(1, distance(before, still));
      about((here.x + still.x) / 2 - box.left, (here.y + still.y) / 2 - box.top, factor);
    } else {
      setView((now) => moved(now, before.x - here.x, before.y - here.y, width, height));
    }
    travelled.current += distance(before, here);
    if (travelled.current > SLACK)
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
    fingers.current.set(event.pointerId, here);
  };
  const release = (event: PointerEvent) => {
    fingers.current.delete(event.pointerId);
  };
  return {
    view,
    fit,
    zoom: (factor) => about(width / 2, height / 2, factor),
    show: (spot) =>
      setView((now) => moved({ ...spot, world: Math.max(now.world, CLOSE) }, 0, 0, width, height)),
    dragged: () => travelled.current > SLACK,
    handlers: {
      onKeyDown: (event) => {
        if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey) return;
        const done = pressed(event.key, { fit, setView, about, width, height });
        if (done) event.preventDefault();
      },
      onPointerLeave: () => {
        awake.current = false;
      },
      onPointerDown: (event) => {
        awake.current = true;
        if (fingers.current.size === 0) travelled.current = 0;
        fingers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
      },
      onPointerMove,
      onPointerUp: release,
      onPointerCancel: release,
    },
  };
}

interface Keyed {
  readonly fit: () => void;
  readonly setView: (change: (now: View) => View) => void;
  readonly about: (x: number, y: number, factor: number) => void;
  readonly width: number;
  readonly height: number;
}

const ARROWS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function pressed(key: string, { fit, setView, about, width, height }: Keyed): boolean {
  const arrow = ARROWS[key];
  if (arrow) setView((now) => moved(now, arrow[0] * 60, arrow[1] * 60, width, height));
  else if (key === "+" || key === "=") about(width / 2, height / 2, 1.6);
  else if (key === "-") about(width / 2, height / 2, 1 / 1.6);
  else if (key === "0") fit();
  else return false;
  return true;
}

function distance(one: Spot, other: Spot): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}
