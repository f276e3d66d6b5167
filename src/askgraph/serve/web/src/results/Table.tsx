// The result as a table: sorted by a press on a head, filtered, in pages, each row with its why.

import { useMemo, useState } from "preact/hooks";
import type { RowEvidence } from "../api/browse.ts";
import { locale as formatLocale, formatNumber } from "../i18n/index.ts";
import { type Column, classOf } from "./columns.ts";
import { Pager } from "./Pager.tsx";
import type { Origin, Result } from "./result.ts";
import { matching, nextOrder, type Order, sorted } from "./sorting.ts";
import { TableRow } from "./TableRow.tsx";
import { Toolbar } from "./Toolbar.tsx";
import { words } from "./words.ts";

const PAGE = 25;
const FEW_ROWS = 6;

interface Props {
  readonly result: Result;
  readonly columns: readonly Column[];
  readonly origin: Origin;
  readonly pictures: boolean;
  /** Shows the evidence of a row as a drawing. */
  readonly onDraw: (evidence: RowEvidence) => void;
}

export function Table({ result, columns, origin, pictures, onDraw }: Props) {
  const [order, setOrder] = useState<Order | null>(null);
  const [search, setSearch] = useState("");
  const [page, setPage] = useState(0);
  const [size, setSize] = useState(PAGE);
  const [iris, setIris] = useState(false);
  const locale = formatLocale.value;
  const rows = useMemo(() => {
    const numbered = result.cells.map((row, number) => ({ row, number }));
    return sorted(matching(numbered, columns, search, locale), order, locale);
  }, [result, columns, search, order, locale]);
  const last = Math.max(0, Math.ceil(rows.length / size) - 1);
  const at = Math.min(page, last);
  const explained = origin.query !== null && !result.triples;
  const find = (text: string) => {
    setSearch(text);
    setPage(0);
  };
  return (
    <div class="table-view">
      <Toolbar
        {...{ result, columns, rows, origin, iris, onIris: setIris, search, onSearch: find }}
        searchable={result.cells.length >= FEW_ROWS}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys */}
      <section class="table-scroll" tabIndex={0} aria-label={words().result}>
        <table class="result-table">
          <Head {...{ columns, order, explained, onOrder: setOrder }} />
          <tbody>
            {rows.slice(at * size, (at + 1) * size).map((item) => (
              <TableRow
                key={item.number}
                {...{ item, columns, origin, iris, pictures, explained, onDraw }}
                evidence={result.evidence.find((piece) => piece.row === item.number) ?? null}
              />
            ))}
          </tbody>
        </table>
      </section>
      {rows.length === 0 && (
        <p class="muted small">
          {result.cells.length === 0 ? words().noRows : words().nothingMatches}
        </p>
      )}
      {result.cells.length > PAGE && (
        <Pager page={at} pages={last + 1} size={size} onPage={setPage} onSize={setSize} />
      )}
      <Limits result={result} />
    </div>
  );
}

interface HeadProps {
  readonly columns: readonly Column[];
  readonly order: Order | null;
  readonly explained: boolean;
  readonly onOrder: (order: Order | null) => void;
}

function Head({ columns, order, explained, onOrder }: HeadProps) {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          const direction = order?.column === column.index ? order.direction : "none";
          return (
            <th key={column.index} scope="col" aria-sort={direction} class={classOf(column)}>
              <span class="head">
                {" "}
                <button
                  type="button"
                  title={words().sortBy(column.title)}
                  onClick={() => onOrder(nextOrder(order, column.index))}
                >
                  <bdi>{column.title}</bdi>
                  <span class={`sort-sign ${direction}`} aria-hidden="true" />
                </button>
                {!column.answers && (
                  <span class="chip" title={words().contextHint}>
                    {words().context}
                  </span>
                )}
              </span>{" "}
            </th>
          );
        })}
        {explained && (
          <th scope="col" class="why-column">
            {words().evidence}
          </th>
        )}
      </tr>
    </thead>
  );
}

function Limits({ result }: { result: Result }) {
  const { cells, total, truncated } = result;
  return (
    <>
      {total > cells.length && (
        <p class="muted small">
          {words().firstOnly(formatNumber(cells.length), formatNumber(total))}
        </p>
      )}
      {truncated && <p class="note warn">{words().cutOff(truncated.by, truncated.reason)}</p>}
    </>
  );
}
