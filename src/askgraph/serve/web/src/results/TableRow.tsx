// A row of the table, and on demand the triples that put it there.

import { useState } from "preact/hooks";
import type { RowEvidence } from "../api/browse.ts";
import { locale } from "../i18n/index.ts";
import { Cell } from "./Cell.tsx";
import { type Column, classOf } from "./columns.ts";
import type { Origin } from "./result.ts";
import type { Numbered } from "./sorting.ts";
import { textOf } from "./texts.ts";
import { Why } from "./Why.tsx";
import { words } from "./words.ts";

interface Props {
  readonly item: Numbered;
  readonly columns: readonly Column[];
  readonly origin: Origin;
  readonly iris: boolean;
  readonly pictures: boolean;
  /** Whether it can be asked why the row is there. */
  readonly explained: boolean;
  readonly evidence: RowEvidence | null;
  readonly onDraw: (evidence: RowEvidence) => void;
}

export function TableRow({ item, columns, origin, explained, evidence, onDraw, ...shown }: Props) {
  const [open, setOpen] = useState(false);
  const first = columns.map(({ index }) => item.row[index]).find((cell) => cell);
  const name = first ? textOf(first, locale.value) : String(item.number + 1);
  return (
    <>
      <tr class={open ? "opened" : undefined}>
        {columns.map((column) => (
          <td key={column.index} class={classOf(column)}>
            <Cell cell={item.row[column.index] ?? null} graph={origin.graph} {...shown} />
          </td>
        ))}
        {explained && (
          <td class="why-column">
            <button
              type="button"
              class="button quiet small"
              aria-expanded={open}
              aria-label={words().whyRow(name)}
              title={words().why}
              onClick={() => setOpen(!open)}
            >
              {words().whyShort}
            </button>
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
