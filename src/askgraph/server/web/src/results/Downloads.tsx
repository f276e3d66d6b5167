// The whole result as a file.

import { download, withQuery } from "../api/http.ts";
import { useAttempt } from "../parts/asking.ts";
import { Popover } from "../parts/Popover.tsx";
import { Button, ProblemNote } from "../parts/parts.tsx";
import { say } from "./words.ts";

interface Props {
  readonly runId: string;
  readonly graph: string;
  /** The number of rows that the file has. */
  readonly rows: number;
  /** Words that rows are filtered by; "" for all rows. */
  readonly search: string;
}

/** A menu of formats: of the table, and of the triples behind it. */
export function Downloads({ runId, graph, rows, search }: Props) {
  const [attempt, problem] = useAttempt();
  const save = (format: Format) =>
    attempt(async () => {
      const name = `${graph}-${runId.slice(0, 8)}.${format.key}`;
      await download(resultPath(runId, format, search), name);
    });
  const list = (title: string, triples: boolean, close: () => void) => (
    <section>
      <p class="small muted">{title}</p>
      <ul>
        {FORMATS.filter((format) => format.triples === triples).map((format) => (
          <li key={format.key}>
            <Button
              look="quiet small"
              onClick={() => {
                close();
                void save(format);
              }}
            >
              {format.name}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
  return (
    <>
      <Popover panelClass="downloads" icon="save" label={say.download}>
        {(close) => (
          <>
            {list(search ? say.downloadSome(rows) : say.downloadAll(rows), false, close)}
            {list(say.downloadTriples, true, close)}
          </>
        )}
      </Popover>
      <ProblemNote problem={problem} />
    </>
  );
}

// The formats that the server gives a whole result in.

interface Format {
  /** The server's name for it, and the ending of the file's name. */
  readonly key: string;
  readonly name: string;
  /** Whether it holds the triples behind the rows. */
  readonly triples: boolean;
}

const FORMATS: readonly Format[] = [
  { key: "csv", name: "CSV", triples: false },
  { key: "xlsx", name: "Excel (XLSX)", triples: false },
  { key: "tsv", name: "TSV", triples: false },
  { key: "json", name: "JSON", triples: false },
  { key: "xml", name: "XML", triples: false },
  { key: "ttl", name: "Turtle", triples: true },
  { key: "nt", name: "N-Triples", triples: true },
  { key: "jsonld", name: "JSON-LD", triples: true },
];

/** The path below /api/v1 of a run's whole result. */
function resultPath(run: string, { key, triples }: Format, search: string): string {
  return withQuery(`/runs/${encodeURIComponent(run)}/result`, {
    format: key,
    names: key === "csv" ? "true" : "",
    search: triples ? "" : search,
  });
}
