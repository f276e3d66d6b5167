// How the rows are arranged, as chips that a press takes away, and which columns are shown.

import { useState } from "preact/hooks";
import type { Refinement } from "../api/graphs.ts";
import type { AnswerView, ArrangementView, Row } from "../api/types.ts";
import { Icon } from "../parts/Icon.tsx";
import { Popover } from "../parts/Popover.tsx";
import { Button, Choice, Form } from "../parts/parts.tsx";
import { type Column, headingOf } from "./columns.ts";
import { say } from "./words.ts";

interface ArrangingProps {
  readonly answer: AnswerView;
  readonly arrangement: ArrangementView;
  readonly refine: (wanted: Refinement) => Promise<unknown>;
}

export function Arranging({ answer, arrangement, refine }: ArrangingProps) {
  const isPlain = arrangement.order.length + arrangement.conditions.length === 0;
  if (answer.total < 2 && isPlain && arrangement.limit === null) return null;
  const take = (wanted: Refinement) => void refine(wanted);
  const names = [...answer.columns, ...arrangement.hidden];
  return (
    <fieldset class="arranging row" aria-label={say.arranging}>
      <Active {...{ answer, arrangement, take }} />
      {names.length > 1 && <ColumnsChip {...{ answer, names, take }} />}
    </fieldset>
  );
}

interface Taking {
  readonly take: (wanted: Refinement) => void;
}

/** The current arrangements; a press removes one. */
function Active({ answer, arrangement, take }: Omit<ArrangingProps, "refine"> & Taking) {
  const titled = (name: string) => headingOf(name, answer.labels);
  const { order, conditions, limit } = arrangement;
  const chips: readonly (readonly [text: string, undo: Refinement])[] = [
    ...order
      .slice(0, 1)
      .map((by) => [`${titled(by.column)} ${by.descending ? "↓" : "↑"}`, { sort_by: "" }] as const),
    ...conditions.map(({ column, comparison, value }, without) => {
      const sign = comparison === "contains" ? say.contains : comparison;
      return [`${titled(column)} ${sign} ${value}`, { without }] as const;
    }),
    ...(limit === null ? [] : [[say.atMost(limit), { limit: 0 }] as const]),
  ];
  return chips.map(([text, undo]) => (
    <button
      key={text}
      type="button"
      class="chip arranged"
      title={say.takeAway}
      onClick={() => take(undo)}
    >
      <bdi>{text}</bdi>
      <Icon name="cross" size={12} />
    </button>
  ));
}

interface ColumnsProps extends Taking {
  readonly answer: AnswerView;
  readonly names: readonly string[];
}

function ColumnsChip({ answer, names, take }: ColumnsProps) {
  const [chosen, setChosen] = useState<readonly string[] | null>(null);
  const kept = chosen ?? answer.columns;
  return (
    <Popover class="button small" panelClass="part-panel" label={say.columns}>
      {(close) => (
        <Form
          class="stack close"
          onSend={() => {
            close();
            setChosen(null);
            take({ columns: kept });
          }}
        >
          {names.map((name) => (
            <Choice
              key={name}
              name={<bdi>{headingOf(name, answer.labels)}</bdi>}
              checked={kept.includes(name)}
              onChange={(on) =>
                setChosen(on ? [...kept, name] : kept.filter((one) => one !== name))
              }
            />
          ))}
          <Button
            look="primary small"
            type="submit"
            disabled={kept.length === 0 || chosen === null}
            text={say.apply}
          />
        </Form>
      )}
    </Popover>
  );
}

// Conditions that a column can be filtered by, and values as they are typed.

type Comparison = "=" | "!=" | "<" | "<=" | ">" | ">=" | "contains";

interface Typed {
  readonly value: string;
  readonly datatype: string | null;
}

const XSD = "http://www.w3.org/2001/XMLSchema#";
const ORDERED: readonly Comparison[] = [">", ">=", "<", "<=", "="];

/** The comparisons for a column's values; none for things. */
export function comparisonsOf({ kind }: Column): readonly Comparison[] {
  if (kind === "number" || kind === "time") return ORDERED;
  return kind === "text" ? ["contains"] : [];
}

/** Converts typed text to a value of the column's datatype; null if impossible. */
export function parseTyped(text: string, column: Column, rows: readonly Row[]): Typed | null {
  const bare = text.trim();
  if (column.kind === "text") return bare ? { value: bare, datatype: null } : null;
  const datatype = rows.map((row) => row[column.index]?.datatype).find(Boolean) ?? null;
  if (column.kind === "number" || /#(integer|decimal|int)$/.test(datatype ?? "")) {
    const number = bare.replace(/[\s\u00a0',](?=\d{3}(\D|$))/g, "");
    if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(number)) return null;
    return { value: number, datatype: XSD + (/^[+-]?\d+$/.test(number) ? "integer" : "decimal") };
  }
  return moment(bare, datatype ?? `${XSD}date`);
}

/** A year stands for its first day where days are compared. */
function moment(text: string, datatype: string): Typed | null {
  const found = /^(-?\d{4,})(?:-(\d\d))?(?:-(\d\d))?$/.exec(text);
  if (!found) return null;
  const [, year, month = "01", day = "01"] = found;
  if (datatype.endsWith("#gYear")) return { value: year ?? "", datatype };
  if (datatype.endsWith("#gYearMonth")) return { value: `${year}-${month}`, datatype };
  const date = `${year}-${month}-${day}`;
  return { value: datatype.endsWith("#date") ? date : `${date}T00:00:00`, datatype };
}
