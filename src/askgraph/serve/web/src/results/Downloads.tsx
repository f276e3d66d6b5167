// The whole result as a file.

import { useEffect, useRef, useState } from "preact/hooks";
import { download, problemFrom } from "../api/http.ts";
import type { Problem } from "../api/types.ts";
import { formatNumber } from "../i18n/index.ts";
import { Icon } from "../parts/Icon.tsx";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import { FORMATS, type Format, resultPath } from "./formats.ts";
import type { Origin } from "./result.ts";
import { words } from "./words.ts";

interface Props {
  readonly origin: Origin;
  readonly total: number;
  readonly triples: boolean;
}

/** A menu of formats; nothing where the server keeps no result to download. */
export function Downloads({ origin, total, triples }: Props) {
  const [open, setOpen] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const outside = (event: Event) => {
      if (!element.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("focusin", outside);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("focusin", outside);
    };
  }, [open]);
  const { runId } = origin;
  if (runId === null) return null;
  const save = async (format: Format) => {
    setOpen(false);
    setProblem(null);
    try {
      await download(
        resultPath(runId, format),
        `${origin.graph}-${runId.slice(0, 8)}.${format.ending}`,
      );
    } catch (error) {
      setProblem(problemFrom(error));
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape in any of its buttons closes it
    <div
      class="downloads"
      ref={element}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !open) return;
        event.stopPropagation();
        setOpen(false);
        element.current?.querySelector("button")?.focus();
      }}
    >
      <button
        type="button"
        class="button quiet small"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <Icon name="save" size={14} />
        {words().download}
      </button>
      {open && (
        <div class="popover">
          <p class="small muted">{words().downloadAll(formatNumber(total))}</p>
          <ul>
            {FORMATS.filter((format) => format.triples === triples).map((format) => (
              <li key={format.ending}>
                <button type="button" class="button quiet small" onClick={() => save(format)}>
                  {format.name}
                </button>
              </li>
            ))}
          </ul>
        </div>
      )}
      {problem && <ProblemNote problem={problem} />}
    </div>
  );
}
