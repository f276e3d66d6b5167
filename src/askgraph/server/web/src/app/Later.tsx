// A part of the page that loads when it is first shown.

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { onReturn } from "../api/http.ts";
import { Button, Loading } from "../parts/parts.tsx";
import { say } from "./words.ts";

interface LaterProps<P extends object> {
  readonly load: () => Promise<ComponentType<P>>;
  readonly props: P;
  /** Whether to reserve no space while loading, for parts that may turn out empty. */
  readonly isQuiet?: boolean;
}

const loaded = new Map<() => Promise<unknown>, unknown>();

/** Preloads a part, so that it appears immediately. */
export function preload(load: () => Promise<unknown>): void {
  load().then(
    (part) => loaded.set(load, part),
    () => undefined, // the load is repeated, and its failure reported, when the part is shown
  );
}

export function Later<P extends object>({ load, props, isQuiet = false }: LaterProps<P>) {
  const Part = loaded.get(load) as ComponentType<P> | undefined;
  const [, show] = useState(0);
  const [failed, fail] = useState(false);
  useEffect(() => {
    if (loaded.has(load)) return;
    let shown = true;
    let stop = () => undefined as unknown;
    const attempt = (isFirst: boolean) =>
      load().then(
        (part) => {
          loaded.set(load, part);
          if (shown) show((count) => count + 1);
        },
        () => {
          if (!shown) return;
          fail(true);
          if (isFirst) stop = onReturn(() => void attempt(false));
        },
      );
    void attempt(true);
    return () => {
      shown = false;
      stop();
    };
  }, [load]);
  if (Part) return <Part {...props} />;
  if (failed)
    return (
      <div class="page note bad" role="alert">
        <p>{say.failed}</p>
        <Button onClick={() => location.reload()} text={say.reload} />
      </div>
    );
  return (
    <div class="page" hidden={isQuiet}>
      <Loading />
    </div>
  );
}

/** Loads the board made of a graph. */
export const graphBoard = () => import("../boards/BoardPage.tsx").then((found) => found.GraphBoard);
