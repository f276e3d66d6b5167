// The whole result as a file.

import { useState } from "preact/hooks";
import { download, withQuery } from "../api/http.ts";
import { useAttempt } from "../parts/asking.ts";
import { Menu } from "../parts/Popover.tsx";
import { ProblemNote, QuietButton } from "../parts/parts.tsx";
import { say } from "./words.ts";

interface Source {
  readonly runId: string;
  readonly graph: string;
  readonly heads: readonly string[];
}

interface Props extends Source {
  readonly query: string | null;
  readonly rows: number;
  /** Words that rows are filtered by; "" for all rows. */
  readonly search: string;
}

/** The server's names for the formats, which are also the endings of files, with those for people. */
const SHEETS = { csv: "CSV", xlsx: "Excel (XLSX)", tsv: "TSV" };
const TABLES = { ...SHEETS, json: "JSON", xml: "XML" };
const TRIPLES = { ttl: "Turtle", nt: "N-Triples", jsonld: "JSON-LD" };

/** A menu of formats: of the table, and of the triples behind it. */
export function Downloads({ query, rows, search, ...source }: Props) {
  const [attempt, problem] = useAttempt();
  const [isDone, setDone] = useState(false);
  const endpoint = `${location.origin}/sparql/${encodeURIComponent(source.graph)}`;
  const codes = Object.entries(codeOf(endpoint, query ?? ""));
  const files = (formats: Readonly<Record<string, string>>, search: string) =>
    Object.entries(formats).map(([format, name]) => ({
      name,
      take: () => void attempt(() => saveRows(source, format, search)),
    }));
  const copies = codes.map(([name, code]) => ({
    name,
    take: () => void attempt(() => navigator.clipboard.writeText(code)).then(setDone),
  }));
  const title = search ? say.downloadSome(rows) : say.downloadAll(rows);
  return (
    <>
      <Menu
        icon="save"
        label={say.download}
        groups={[
          { title, items: files(TABLES, search) },
          { title: say.downloadTriples, items: files(TRIPLES, "") },
        ]}
      />
      {query !== null && (
        <Menu icon="copy" label={say.code} groups={[{ title: say.copyCode, items: copies }]} />
      )}
      {isDone && (
        <span class="small muted" role="status">
          {say.copied}
        </span>
      )}
      <ProblemNote problem={problem} />
    </>
  );
}

function saveRows({ runId, graph, heads }: Source, format: string, search = "") {
  const named = format in SHEETS ? { names: "true", heads: heads.join("\t") } : {};
  const path = withQuery(`/runs/${runId}/result`, { format, search, ...named });
  return download(path, `${graph}-${runId.slice(0, 8)}.${format}`);
}

interface PartNoteProps extends Omit<Source, "runId"> {
  readonly text: string;
  readonly runId: string | null;
  readonly isEnd: boolean;
}

/** The note that not all rows are here, with a file of all if there is one. */
export function PartNote({ text, runId, isEnd, ...of }: PartNoteProps) {
  const [attempt, problem] = useAttempt();
  const save = () => runId && void attempt(() => saveRows({ runId, ...of }, "csv"));
  return (
    <>
      <p class={isEnd ? "row note warn" : "row muted small"}>
        {text} {runId && <QuietButton icon="save" onClick={save} text={say.allAsCsv} />}
      </p>
      <ProblemNote problem={problem} />
    </>
  );
}

// The query as code that runs it and reads its table.

function codeOf(address: string, query: string): Readonly<Record<string, string>> {
  const isPlain = !/"""|\\|"$/.test(query);
  return {
    SPARQL: query,
    Python: `from urllib.parse import urlencode

import pandas

query = ${isPlain ? `"""${query}"""` : JSON.stringify(query)}
address = "${address}?" + urlencode({"query": query})
table = pandas.read_csv(address, storage_options={"Accept": "text/csv"})
`,
    R: `query <- r"---(${query})---"
address <- paste0("${address}?query=", URLencode(query, reserved = TRUE))
table <- read.csv(url(address, headers = c(Accept = "text/csv")))
`,
  };
}
