// The width of an element, now and when it changes.

import type { RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** A ref to put on an element, and its width in pixels; 0 before it is drawn. */
export function useWidth<E extends Element>(): [RefObject<E | null>, number] {
  const element = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    if (!element.current) return;
    setWidth(element.current.clientWidth);
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.floor(entry.contentRect.width));
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
