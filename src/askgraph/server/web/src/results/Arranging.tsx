// How the rows are arranged, as chips: sorted, cut off, filtered, fewer columns, counted. Each is a
// change of the query.

import { useMemo, useState } from "preact/hooks";
import type { Refinement } from "../api/graphs.ts";
import type { AnswerView, ArrangementView } from "../api/types.ts";
import { Icon } from "../parts/Icon.tsx";
import { Menu, Popover } from "../parts/Popover.tsx";
import { Button, Choice, Field, Form, Select } from "../parts/parts.tsx";
import { type Column, columnsOf, headingOf } from "./columns.ts";
import { comparisonsOf, typedValue } from "./conditions.ts";
import { say } from "./words.ts";

interface ArrangingProps {
  readonly answer: AnswerView;
  readonly arrangement: ArrangementView;
  readonly refine: (wanted: Refinement) => Promise<unknown>;
}

const LIMITS = [3, 5, 10, 25, 100];

export function Arranging({ answer, arrangement, refine }: ArrangingProps) {
  const columns = useMemo(
    () => columnsOf(answer.columns, answer.cells, answer.answer_columns, answer.labels),
    [answer],
  );
  const isPlain = arrangement.order.length + arrangement.conditions.length === 0;
  if (answer.total < 2 && isPlain && arrangement.limit === null) return null;
  const take = (wanted: Refinement) => void refine(wanted);
  return (
    <fieldset class="arranging row" aria-label={say.arranging}>
      <Active {...{ answer, arrangement, take }} />
      <Menu
        class="button small"
        label={say.sort}
        groups={[
          {
            items: columns.flatMap(({ name, title }) =>
              [true, false].map((descending) => ({
                text: `${title} ${descending ? "↓" : "↑"}`,
                hint: descending ? say.falling : say.rising,
                take: () => take({ sort_by: name, descending }),
              })),
            ),
          },
        ]}
      />
      <FilterChip {...{ answer, columns, take }} />
      <Menu
        class="button small"
        label={say.limit}
        groups={[
          {
            items: LIMITS.map((limit) => ({
              text: say.atMost(limit),
              take: () => take({ limit }),
            })),
          },
        ]}
      />
      {columns.length > 1 && <ColumnsChip {...{ columns, take }} />}
      {columns.length > 1 && !arrangement.counts && (
        <Menu
          class="button small"
          label={say.countBy}
          groups={[
            {
              items: columns.map(({ name, title }) => ({
                text: say.eachOf(title),
                take: () => take({ count_by: name }),
              })),
            },
          ]}
        />
      )}
    </fieldset>
  );
}

interface Taking {
  readonly take: (wanted: Refinement) => void;
}

/** What is arranged already; a press takes it back. */
function Active({ answer, arrangement, take }: Omit<ArrangingProps, "refine"> & Taking) {
  const titled = (name: string) => headingOf(name, answer.labels);
  const [sort] = arrangement.order;
  return (
    <>
      {sort && (
        <Undo
          text={`${titled(sort.column)} ${sort.descending ? "↓" : "↑"}`}
          undo={() => take({ sort_by: "" })}
        />
      )}
      {arrangement.conditions.map(({ column, comparison, value }, at) => (
        <Undo
          key={at}
          text={`${titled(column)} ${comparison === "contains" ? say.contains : comparison} ${value}`}
          undo={() => take({ without: at })}
        />
      ))}
      {arrangement.limit !== null && (
        <Undo text={say.atMost(arrangement.limit)} undo={() => take({ limit: 0 })} />
      )}
    </>
  );
}

function Undo({ text, undo }: { text: string; undo: () => void }) {
  return (
    <button type="button" class="chip arranged" title={say.takeAway} onClick={undo}>
      <bdi>{text}</bdi>
      <Icon name="cross" size={12} />
    </button>
  );
}

type Chosen = Taking & { readonly columns: readonly Column[] };

function ColumnsChip({ columns, take }: Chosen) {
  const [left, setLeft] = useState<readonly string[]>([]);
  const kept = columns.map(({ name }) => name).filter((name) => !left.includes(name));
  return (
    <Popover class="button small" panelClass="part-panel" label={say.columns}>
      {(close) => (
        <Form
          class="stack close"
          onSend={() => {
            close();
            setLeft([]);
            take({ columns: kept });
          }}
        >
          {columns.map(({ name, title }) => (
            <Choice
              key={name}
              name={<bdi>{title}</bdi>}
              checked={!left.includes(name)}
              onChange={(on) => setLeft(on ? left.filter((one) => one !== name) : [...left, name])}
            />
          ))}
          <Button
            look="primary small"
            type="submit"
            disabled={kept.length === 0 || left.length === 0}
          >
            {say.apply}
          </Button>
        </Form>
      )}
    </Popover>
  );
}

function FilterChip({ answer, columns, take }: Chosen & { readonly answer: AnswerView }) {
  const usable = columns.filter((column) => comparisonsOf(column).length > 0);
  const [first] = usable;
  if (!first) return null;
  return (
    <Popover class="button small" panelClass="part-panel" label={say.filterBy}>
      {(close) => (
        <FilterForm
          {...{ answer, usable, first }}
          take={(wanted) => {
            close();
            take(wanted);
          }}
        />
      )}
    </Popover>
  );
}

interface FilterFormProps extends Taking {
  readonly answer: AnswerView;
  readonly usable: readonly Column[];
  readonly first: Column;
}

function FilterForm({ answer, usable, first, take }: FilterFormProps) {
  const [name, setName] = useState(first.name);
  const [chosen, setChosen] = useState("");
  const [value, setValue] = useState("");
  const column = usable.find((one) => one.name === name) ?? first;
  const comparisons = comparisonsOf(column);
  const comparison = comparisons.find((one) => one === chosen) ?? comparisons[0] ?? "=";
  const typed = typedValue(value, column, answer.cells);
  return (
    <Form
      class="stack close"
      onSend={() => typed && take({ condition: { column: column.name, comparison, ...typed } })}
    >
      <Select
        label={say.column}
        value={column.name}
        options={usable.map((one) => [one.name, one.title])}
        onChoose={setName}
      />
      <Select
        label={say.comparison}
        value={comparison}
        options={comparisons.map((one) => [one, one === "contains" ? say.contains : one])}
        onChoose={setChosen}
      />
      <Field label={say.value} value={value} onText={setValue} input={{ "data-first": true }} />
      <Button look="primary small" type="submit" disabled={typed === null}>
        {say.apply}
      </Button>
    </Form>
  );
}
