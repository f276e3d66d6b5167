// The result as a table: sortable, filtered, in pages, with an explanation of each row.

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { evidenceOf, type Refinement, type RowEvidence } from "../api/graphs.ts";
import type { AnswerView, Row } from "../api/types.ts";
import { locale } from "../i18n/index.ts";
import { useFetched } from "../parts/asking.ts";
import { PlusMenu } from "../parts/Popover.tsx";
import { Button, CopyButton, ProblemNote, QuietButton, SearchField } from "../parts/parts.tsx";
import { Adding, type AddingProps } from "./Adding.tsx";
import { Cell } from "./Cell.tsx";
import { type Column, classOf, markText, titlesOf } from "./columns.ts";
import { Pager } from "./controls.tsx";
import { Downloads } from "./Downloads.tsx";
import type { Numbered, Order, Source } from "./sorting.ts";
import { filterRows, nextOrder, sortRows, useSorted } from "./sorting.ts";
import { stripControls, textOf, toTabSeparated } from "./texts.ts";
import { say } from "./words.ts";

const PAGE = 25;
const FEW_ROWS = 6;

/** The graph, the run and the query that a result comes from; null if they explain no rows. */
interface Origin {
  readonly graph: string;
  readonly runId: string | null;
  readonly query: string | null;
}

interface Props {
  readonly result: AnswerView;
  readonly columns: readonly Column[];
  readonly origin: Origin;
  /** What sorts more rows than the page has; null if it has all. */
  readonly source: Source | null;
  /** The note that the page has only the first rows, by a column. */
  readonly part: (by?: string, isEnd?: boolean) => ComponentChildren;
  readonly pictures: boolean;
  /** Rows that are new (null), or what they were before. */
  readonly marks?: ReadonlyMap<number, Row | null> | undefined;
  readonly adding: AddingProps | null;
  readonly onDraw: (evidence: RowEvidence) => void;
}

export function Table({ result, columns, origin: of, source, pictures, marks, ...more }: Props) {
  const [order, setOrder] = useState<Order | null>(null);
  const [search, setSearch] = useState("");
  const [page, setPage] = useState(0);
  const [size, setSize] = useState(PAGE);
  const [iris, setIris] = useState(false);
  const by = columns.find(({ index }) => index === order?.column);
  const sorted = useSorted(source, by, order?.direction === "descending");
  const origin = sorted ? { ...of, query: of.query && sorted.query } : of;
  const rows = useMemo(() => {
    const numbered = (sorted ?? result).cells.map((row, number) => ({ row, number }));
    return sortRows(
      filterRows(numbered, columns, search, locale.value),
      sorted === null ? order : null,
      locale.value,
    );
  }, [result, sorted, columns, search, order, locale.value]);
  const last = Math.max(0, Math.ceil(rows.length / size) - 1);
  const at = Math.min(page, last);
  const explained = origin.query !== null;
  const find = (text: string) => {
    setSearch(text);
    setPage(0);
  };
  return (
    <div class="table-view stack near">
      <Toolbar
        {...{ result, columns, rows, origin, iris, onIris: setIris, search, onSearch: find }}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys */}
      <div class="table-scroll sheet" tabIndex={0} role="group" aria-label={say.result}>
        <table class="result-table">
          <Head {...{ columns, order, explained, onOrder: setOrder, adding: more.adding }} />
          <tbody>
            {rows.slice(at * size, (at + 1) * size).map((item) => (
              <TableRow
                key={item.number}
                {...{ item, columns, origin, iris, pictures, explained, onDraw: more.onDraw }}
                was={sorted ? undefined : marks?.get(item.number)}
                evidence={
                  (!sorted && result.evidence.find((piece) => piece.row === item.number)) || null
                }
              />
            ))}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && (
        <p class="muted small">{result.cells.length === 0 ? say.noRows : say.nothingMatches}</p>
      )}
      {more.part(sorted ? by?.title : undefined, at === last)}
      {result.cells.length > PAGE && (
        <Pager page={at} pages={last + 1} size={size} onPage={setPage} onSize={setSize} />
      )}
      {result.truncated && result.total === result.cells.length && (
        <p class="note warn">{say.cutOff(result.truncated.by, result.truncated.reason)}</p>
      )}
    </div>
  );
}

interface HeadProps extends Pick<Props, "columns" | "adding"> {
  readonly order: Order | null;
  readonly explained: boolean;
  readonly onOrder: (order: Order | null) => void;
}

function Head({ columns, order, explained, onOrder, adding }: HeadProps) {
  const { columns: shown = [], hidden = [] } = adding?.arrangement ?? {};
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
                  title={say.sortBy(column.title)}
                  onClick={() => onOrder(nextOrder(order, column.index))}
                >
                  <bdi>{column.title}</bdi>
                  <span class={`sort-sign ${direction}`} aria-hidden="true" />
                </button>
                {!column.answers && (
                  <span class="chip" title={say.contextHint}>
                    {say.context}
                  </span>
                )}
                {adding && [...shown, ...hidden].includes(column.name) && (
                  <PlusMenu title={say.addToColumn(column.title)}>
                    {(close) => {
                      const add = (wanted: Refinement) => {
                        close();
                        adding.add(wanted);
                      };
                      return <Adding {...adding} {...{ add, at: column }} />;
                    }}
                  </PlusMenu>
                )}
              </span>{" "}
            </th>
          );
        })}
        {explained && (
          <th scope="col" class="why-column">
            {say.evidence}
          </th>
        )}
      </tr>
    </thead>
  );
}

interface TableRowProps extends Omit<Props, "result" | "source" | "part" | "marks" | "adding"> {
  readonly item: Numbered;
  readonly iris: boolean;
  readonly explained: boolean;
  readonly evidence: RowEvidence | null;
  /** Its cells before, if it is marked; null if it is new. */
  readonly was: Row | null | undefined;
}

function TableRow({ item, columns, origin, explained, ...more }: TableRowProps) {
  const { evidence, was, onDraw, ...shown } = more;
  const [open, setOpen] = useState(false);
  const first = columns.map(({ index }) => item.row[index]).find((cell) => cell);
  const name = first ? textOf(first, locale.value) : String(item.number + 1);
  return (
    <>
      <tr class={was === undefined ? "" : was ? "marked changed" : "marked"}>
        {columns.map((column, place) => {
          const mark = markText(item.row, was, column, place === 0);
          return (
            <td key={column.index} class={classOf(column)}>
              <Cell cell={item.row[column.index] ?? null} graph={origin.graph} {...shown} />
              {mark && <bdi class="cell-mark muted small"> {mark}</bdi>}
            </td>
          );
        })}
        {explained && (
          <td class="why-column">
            <QuietButton
              aria-expanded={open}
              aria-label={say.whyRow(name)}
              title={say.why}
              onClick={() => setOpen(!open)}
              text={say.whyShort}
            />
          </td>
        )}
      </tr>
      {open && (
        <tr class="why-row">
          <td colSpan={columns.length + 1}>
            <Why row={item.number} known={evidence} {...{ origin, onDraw }} />
          </td>
        </tr>
      )}
    </>
  );
}

// Above the table: how many rows, the filter, copy and downloads.

interface ToolbarProps extends Pick<Props, "result" | "columns" | "origin"> {
  readonly rows: readonly Numbered[];
  readonly iris: boolean;
  readonly onIris: (shown: boolean) => void;
  readonly search: string;
  readonly onSearch: (search: string) => void;
}

function Toolbar({ result, columns, rows, origin, iris, onIris, ...filter }: ToolbarProps) {
  const { cells, total } = result;
  const all = Math.max(total, cells.length);
  const copied = () =>
    toTabSeparated(
      titlesOf(columns),
      rows.map(({ row }) => columns.map(({ index }) => row[index] ?? null)),
    );
  return (
    <div class="toolbar row loose">
      <span class="count muted small number" role="status">
        {rows.length < all ? say.someRows(rows.length, all) : say.rows(all)}
      </span>
      {cells.length >= FEW_ROWS && (
        <SearchField
          class="slim filter"
          label={say.filter}
          value={filter.search}
          onText={filter.onSearch}
        />
      )}
      <span class="tools row tight at-end">
        {columns.some(({ kind }) => kind === "thing") && (
          <QuietButton aria-pressed={iris} title={say.irisHint} onClick={() => onIris(!iris)}>
            {say.iris}
          </QuietButton>
        )}
        <CopyButton look="quiet small" text={copied} title={say.copyHint} />
        {origin.runId !== null && (
          <Downloads
            {...origin}
            runId={origin.runId}
            rows={filter.search ? rows.length : total}
            search={filter.search}
            heads={titlesOf(columns)}
          />
        )}
      </span>
    </div>
  );
}

// The triples that put a row into the result, read out, and the way to their drawing.

interface WhyProps {
  readonly row: number;
  readonly origin: Origin;
  readonly known: RowEvidence | null;
  readonly onDraw: (evidence: RowEvidence) => void;
}

function Why({ row, origin, known, onDraw }: WhyProps) {
  const { graph, query } = origin;
  const { value, problem } = useFetched(`${graph} ${row} ${query}`, async (signal) =>
    known || query === null ? known : evidenceOf(graph, query, row, signal),
  );
  const found = known ?? value;
  if (problem) return <ProblemNote problem={problem} />;
  if (!found) return <p class="muted small">{say.loading}</p>;
  if (found.triples.length === 0) return <p class="muted small">{say.noEvidence}</p>;
  return (
    <div class="why stack close">
      <ul>
        {found.words.map((sentence, at) => (
          <li key={sentence} data-iri={found.triples[at]?.join(" ").replace(/[<>]/g, "")}>
            <bdi>{stripControls(sentence)}</bdi>
          </li>
        ))}
      </ul>
      <Button onClick={() => onDraw(found)} text={say.asDrawing} />
    </div>
  );
}
