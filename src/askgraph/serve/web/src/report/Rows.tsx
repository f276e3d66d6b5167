// Rows of a result, and the tables of a question.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { counted, index, type Rows, type Value } from "./data.ts";

const SHOWN = 10;

interface TableProps {
  readonly label: string;
  readonly head: readonly string[];
  readonly class?: string;
  /** The rows, each a `tr`. */
  readonly children: ComponentChildren;
}

/** A table that scrolls if it is too wide. */
export function Table({ label, head, children, ...rest }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keys
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be one of a form
    <div class="scroll" tabIndex={0} role="group" aria-label={label}>
      <table class={rest.class}>
        <thead>
          <tr>
            {head.map((name, at) => (
              <th key={at} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** A result: its size, and its first rows. */
export function Result({ result }: { result: Rows | null }) {
  if (!result) return <p class="none">No result.</p>;
  const { columns, rows, n } = result;
  const size = `${counted(n, "row")}, ${counted(columns.length, "column")}`;
  return (
    <>
      <p class="muted small">{n > rows.length ? `${size}; the first ${rows.length}` : size}</p>
      {n > 0 && <RowTable columns={columns} rows={rows} />}
    </>
  );
}

interface ApartProps {
  readonly title: string;
  readonly sign: string;
  readonly rows: Rows["rows"] | undefined;
  readonly result: Rows | null | undefined;
}

/** Rows that only one of two results has. */
export function RowsApart({ title, sign, rows, result }: ApartProps) {
  if (!rows?.length) return null;
  const columns = result?.columns ?? rows[0]?.map((_, at) => `${at + 1}`) ?? [];
  const all =
    rows.length >= index.head ? `the first ${rows.length} rows` : counted(rows.length, "row");
  return (
    <details class="apart" open>
      <summary>
        <b aria-hidden="true">{sign}</b> {title}: {all}
      </summary>
      <RowTable columns={columns} rows={rows} />
    </details>
  );
}

function RowTable({ columns, rows }: Pick<Rows, "columns" | "rows">) {
  const [all, setAll] = useState(false);
  return (
    <>
      <Table label="rows of a result" class="values" head={columns.map((name) => `?${name}`)}>
        {rows.slice(0, all ? undefined : SHOWN).map((row, at) => (
          <tr key={at}>
            {row.map((value, column) => (
              <td key={column}>
                <Term value={value} />
              </td>
            ))}
          </tr>
        ))}
      </Table>
      {!all && rows.length > SHOWN && (
        <button type="button" class="button quiet small" onClick={() => setAll(true)}>
          Show all {rows.length}
        </button>
      )}
    </>
  );
}

/** An IRI's namespace and its last piece; one that names nothing goes with the one before it. */
const IRI = /^(https?:.*?[/#])([^/#]+(?:#(?:this|it|me|id))?)$/;

function Term({ value }: { value: Value }) {
  if (value === null) return <i class="none">unbound</i>;
  const split = typeof value === "string" ? IRI.exec(value) : null;
  if (!split) return <>{String(value)}</>;
  return (
    <span title={split[0]}>
      <span class="space">{split[1]}</span>
      {split[2]}
    </span>
  );
}
