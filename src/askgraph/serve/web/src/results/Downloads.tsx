// The whole result as a file.

import { useState } from "preact/hooks";
import { download, problemFrom } from "../api/http.ts";
import type { Problem } from "../api/types.ts";
import { formatNumber } from "../i18n/index.ts";
import { Icon } from "../parts/Icon.tsx";
import { Popover } from "../parts/Popover.tsx";
import { ProblemNote } from "../parts/ProblemNote.tsx";
import { FORMATS, type Format, resultPath } from "./formats.ts";
import { words } from "./words.ts";

interface Props {
  readonly runId: string;
  readonly graph: string;
  readonly total: number;
}

/** A menu of formats: of the table, and of the triples behind it. */
export function Downloads({ runId, graph, total }: Props) {
  const say = words();
  const [problem, setProblem] = useState<Problem | null>(null);
  const save = async (format: Format) => {
    setProblem(null);
    try {
      const name = `${graph}-${runId.slice(0, 8)}.${format.key}`;
      await download(resultPath(runId, format), name);
    } catch (error) {
      setProblem(problemFrom(error));
    }
  };
  const list = (title: string, triples: boolean, close: () => void) => (
    <section>
      <h3 class="small muted">{title}</h3>
      <ul>
        {FORMATS.filter((format) => format.triples === triples).map((format) => (
          <li key={format.key}>
            <button
              type="button"
              class="button quiet small"
              onClick={() => {
                close();
                void save(format);
              }}
            >
              {format.name}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
  return (
    <>
      <Popover
        panelClass="downloads"
        label={
          <>
            <Icon name="save" size={14} />
            {say.download}
          </>
        }
      >
        {(close) => (
          <>
            {list(say.downloadAll(formatNumber(total)), false, close)}
            {list(say.downloadTriples, true, close)}
          </>
        )}
      </Popover>
      {problem && <ProblemNote problem={problem} />}
    </>
  );
}
