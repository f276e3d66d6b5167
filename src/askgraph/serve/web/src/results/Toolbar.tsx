// Above the table: how many rows, the filter, copy and downloads.

import { formatNumber } from "../i18n/index.ts";
import { CopyButton } from "../parts/CopyButton.tsx";
import type { Column } from "./columns.ts";
import { Downloads } from "./Downloads.tsx";
import type { Origin, Result } from "./result.ts";
import type { Numbered } from "./sorting.ts";
import { tabSeparated } from "./texts.ts";
import { words } from "./words.ts";

interface Props {
  readonly result: Result;
  readonly columns: readonly Column[];
  /** The rows that are left, in the order that they are shown in. */
  readonly rows: readonly Numbered[];
  readonly origin: Origin;
  readonly iris: boolean;
  readonly onIris: (shown: boolean) => void;
  readonly searchable: boolean;
  readonly search: string;
  readonly onSearch: (search: string) => void;
}

export function Toolbar(props: Props) {
  const { result, columns, rows, origin, iris, onIris, searchable, search, onSearch } = props;
  const copied = () =>
    tabSeparated(
      columns.map((column) => column.title),
      rows.map(({ row }) => columns.map(({ index }) => row[index] ?? null)),
    );
  return (
    <div class="toolbar">
      <span class="count" role="status">
        {counted(rows.length, result)}
      </span>
      {searchable && (
        <input
          type="search"
          class="field filter"
          placeholder={words().filter}
          aria-label={words().filter}
          value={search}
          onInput={(event) => onSearch(event.currentTarget.value)}
        />
      )}
      <span class="tools">
        {columns.some(({ kind }) => kind === "thing") && (
          <button
            type="button"
            class="button quiet small"
            aria-pressed={iris}
            title={words().irisHint}
            onClick={() => onIris(!iris)}
          >
            {words().iris}
          </button>
        )}
        <CopyButton class="button quiet small" text={copied} title={words().copyHint} />
        {origin.runId !== null && (
          <Downloads runId={origin.runId} graph={origin.graph} total={result.total} />
        )}
      </span>
    </div>
  );
}

function counted(shown: number, { cells, total }: Result): string {
  const all = Math.max(total, cells.length);
  if (shown < cells.length) return words().someRows(formatNumber(shown), formatNumber(all));
  return words().rows(all, formatNumber(all));
}
