// What can be added to a column of an answer: columns and conditions of its things, an order, a
// group; to all rows, a limit.

import { useRef, useState } from "preact/hooks";
import { type Refinement, tableOf } from "../api/graphs.ts";
import type { AnswerView, ArrangementView, CellView } from "../api/types.ts";
import { formatPercent, language, locale } from "../i18n/index.ts";
import { moveAmongOffers, useFetched } from "../parts/asking.ts";
import {
  Button,
  Field,
  Form,
  type Offer,
  Offers,
  ProblemNote,
  SearchField,
  Select,
} from "../parts/parts.tsx";
import { comparisonsOf, parseTyped } from "./Arranging.tsx";
import { type Column, columnsOf } from "./columns.ts";
import { textOf } from "./texts.ts";
import { pluralize, say } from "./words.ts";

export interface AddingProps {
  readonly answer: AnswerView;
  readonly graph: string;
  readonly arrangement: ArrangementView;
  readonly add: (wanted: Refinement) => void;
  /** The column whose head has this panel; null at the end of the reading. */
  readonly at?: Column | null;
}

/** A property of the things of a column; `from` is the class of those that have it for them. */
interface Property {
  readonly cell: CellView;
  readonly from: CellView | null;
}

const LIMITS = [5, 10, 20];

export function Adding(props: AddingProps) {
  const { answer, arrangement, at, add } = props;
  const columns = columnsOf(answer.columns, answer.cells, answer.answer_columns, answer);
  const first = columns.find(({ kind }) => kind === "thing") ?? columns[0];
  const [name, setName] = useState(first?.name ?? "");
  const [property, setProperty] = useState<Property | null>(null);
  const panel = useRef<HTMLDivElement>(null);
  const column = at ?? columns.find((one) => one.name === name);
  if (!column) return null;
  const choose = (chosen: Property) => {
    setProperty(chosen);
    panel.current?.querySelector("input")?.focus();
  };
  const isSorted = arrangement.order.length > 0; // else the first rows are those with the first names
  const limitTo = (limit: number) => add({ ...(!isSorted && orderBy(arrangement, column)), limit });
  const limits = LIMITS.filter((limit) => !at && limit < answer.total).map((limit) => ({
    ...{ name: say.atMost(limit), hint: say.someRows(limit, answer.total) },
    take: () => limitTo(limit),
  }));
  const orders = property
    ? wholeOffers(props, column, property)
    : [...columnOffers(props, column), ...limits];
  const Part = column.kind === "thing" ? Properties : Condition;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the field and of what it found
    <div
      class="stack close"
      ref={panel}
      onKeyDown={(event) => {
        const isForm = event.target instanceof Element && event.target.closest("form");
        if (!isForm) moveAmongOffers(event);
      }}
    >
      {!at && columns.length > 1 && !property && (
        <Select
          label={say.addTo}
          value={column.name}
          options={columns.map((one) => [one.name, one.title])}
          onChoose={setName}
        />
      )}
      <Part key={column.name} {...{ ...props, column, property, choose, orders }} />
      {limits.length > 0 && !property && <OwnLimit take={limitTo} />}
    </div>
  );
}

interface PartProps extends AddingProps {
  readonly column: Column;
  readonly property: Property | null;
  readonly choose: (property: Property) => void;
  readonly orders: readonly Offer[];
}

/** The properties of a column's things, or the values of one, with their numbers of rows. */
function Properties({ answer, graph, column, property, choose, orders, add }: PartProps) {
  const [sought, setSought] = useState("");
  const query = countRows(answer.sparql ?? "", column.name, property);
  const { value, problem, busy } = useFetched(query, () => tableOf(graph, query));
  const back = property ? "" : countLinks(answer.sparql ?? "", column.name);
  const links = useFetched(back, async () => (back ? tableOf(graph, back) : null));
  const things = new Set(answer.cells.map((row) => row[column.index]?.value)).size;
  const total = answer.total > answer.cells.length ? answer.total : things;
  const matches = (name: string) => name.toLowerCase().includes(sought.toLowerCase());
  const take = (chosen: Property) => () => {
    choose(chosen);
    setSought("");
  };
  const offers = (busy ? [] : (value?.cells ?? [])).flatMap(([cell, count]): Offer[] => {
    const name = cell ? textOf(cell, locale.value) : "";
    const rows = Number(count?.value);
    if (!cell || cell.type === "blank" || NAME.test(cell.value) || !matches(name)) return [];
    const pattern = property && writePattern(column.name, property, writeTerm(cell));
    if (pattern) return [{ name, hint: say.rows(rows), take: () => add({ pattern }) }];
    const hint = formatPercent(Math.min(1, rows / total));
    return [{ name, title: cell.value, hint, take: take({ cell, from: null }) }];
  });
  const seen = new Set<string>();
  const incoming = (busy || links.busy ? [] : (links.value?.cells ?? [])).flatMap(
    ([cell, from, count]): Offer[] => {
      if (!cell || !from || seen.has(cell.value)) return [];
      seen.add(cell.value);
      const name = say.whose(nameMany(from), textOf(cell, locale.value));
      const hint = say.rows(Number(count?.value));
      return matches(name) ? [{ name, title: cell.value, hint, take: take({ cell, from }) }] : [];
    },
  );
  const label = property && textOf(property.cell, locale.value);
  return (
    <>
      <SearchField
        label={label ?? say.searchProperty}
        value={sought}
        onText={setSought}
        input={{ "data-first": true }}
      />
      {!sought && <Offers offers={orders} />}
      {property && offers.length > 0 && <p class="small muted">{say.onlyWith}</p>}
      {busy && <span class="spinner" />}
      <Offers offers={[...offers, ...incoming]} label={label ?? say.properties} />
      <ProblemNote problem={problem} />
    </>
  );
}

/** A comparison of a column's values with one that is typed. */
function Condition({ answer, column, orders, add }: PartProps) {
  const [chosen, setChosen] = useState("");
  const [value, setValue] = useState("");
  const comparisons = comparisonsOf(column);
  const comparison = comparisons.find((one) => one === chosen) ?? comparisons[0] ?? "=";
  const typed = parseTyped(value, column, answer.cells);
  const send = () =>
    typed && add({ condition: { column: column.name, comparison, ...typed }, columns: null });
  return (
    <>
      <Offers offers={orders} />
      {comparisons.length > 0 && (
        <Form class="stack close" onSend={send}>
          <Select
            label={say.onlyWith}
            value={comparison}
            options={comparisons.map((one) => [one, one === "contains" ? say.contains : one])}
            onChoose={setChosen}
          />
          <Field label={say.value} value={value} onText={setValue} />
          <Button look="primary small" type="submit" disabled={!typed} text={say.apply} />
        </Form>
      )}
    </>
  );
}

/** A limit that is typed. */
function OwnLimit({ take }: { readonly take: (limit: number) => void }) {
  const [text, setText] = useState("");
  const limit = /^[1-9]\d{0,5}$/.test(text.trim()) ? Number(text) : 0;
  return (
    <Form class="stack close" onSend={() => limit && take(limit)}>
      <Field label={say.limit} value={text} onText={setText} input={{ inputMode: "numeric" }} />
      <Button look="primary small" type="submit" disabled={!limit} text={say.apply} />
    </Form>
  );
}

/** Sorts by a column; one that is not shown yet becomes one. */
function orderBy(
  { columns }: ArrangementView,
  { name, kind }: Column,
  descending = false,
): Refinement {
  const more = columns.includes(name) ? {} : { columns: [...columns, name] };
  return { ...more, sort_by: name, by_name: kind === "thing", descending };
}

/** Offers to sort by a column, and to count by it. */
function columnOffers({ arrangement, add }: AddingProps, column: Column): Offer[] {
  const isSized = column.kind === "number" || column.kind === "time";
  const sorted = (descending: boolean) => () => add(orderBy(arrangement, column, descending));
  const canCount = !arrangement.counts && arrangement.columns.length > 1;
  return [
    ...(isSized ? [{ name: say.largestFirst, take: sorted(true) }] : []),
    { name: isSized ? say.smallestFirst : say.byName, take: sorted(false) },
    ...(canCount ? [{ name: say.countEach, take: () => add({ count_by: column.name }) }] : []),
  ];
}

/** Offers to add all values of a property: as a column, sorted, or counted. */
function wholeOffers({ answer, add }: AddingProps, column: Column, property: Property): Offer[] {
  const { cell, from } = property;
  let name = /[\p{L}\p{N}_]+$/u.exec((from ?? cell).value)?.[0] ?? "value";
  while (answer.sparql?.includes(`?${name}`)) name += "_2";
  const pattern = writePattern(column.name, property, `?${name}`);
  const sorted = { pattern, sort_by: name, descending: true };
  const count_by = from ? column.name : name;
  return [
    { name: say.asColumn, take: () => add({ pattern }) },
    ...(from ? [] : [{ name: say.largestFirst, take: () => add(sorted) }]),
    {
      name: from ? say.eachOf(nameMany(from), column.title) : say.countEach,
      take: () => add({ pattern, count_by }),
    },
  ];
}

/** A class in the plural where the page's language has rules for it. */
function nameMany(cls: CellView): string {
  const name = textOf(cls, locale.value);
  return language.value === "en" ? pluralize(name) : name;
}

/** The names of things, which a result shows anyway. */
const NAME = /[/#](?:label|prefLabel|altLabel|name)$/;
const PROLOGUE = /^(?:\s*(?:#.*|prefix\s+\S*\s*<[^>]*>|base\s*<[^>]*>))*/i;

function writePattern(column: string, { cell, from }: Property, value: string): string {
  return from ? `${value} <${cell.value}> ?${column}` : `?${column} <${cell.value}> ${value}`;
}

/** Counts the things of a column by their properties, or by their values of one. */
function countRows(query: string, column: string, property: Property | null): string {
  const pattern = property ? writePattern(column, property, "?choice") : `?${column} ?choice ?any`;
  return countIn(query, "?choice", `COUNT(DISTINCT ?${column})`, pattern);
}

/** Counts the rows with the things that have those of a column as values, by property and class. */
function countLinks(query: string, column: string): string {
  const pattern = `?any ?choice ?${column} ; a ?from`;
  return countIn(query, "?choice ?from", "COUNT(?any)", pattern);
}

function countIn(query: string, keys: string, count: string, pattern: string): string {
  const [prologue = ""] = PROLOGUE.exec(query) ?? [];
  return `${prologue}
SELECT ${keys} (${count} AS ?rows) {
  { ${query.slice(prologue.length)}
  } ${pattern}
} GROUP BY ${keys} ORDER BY DESC(?rows) LIMIT 40`;
}

function writeTerm({ type, value, language, datatype }: CellView): string {
  if (type === "iri") return `<${value}>`;
  return JSON.stringify(value) + (language ? `@${language}` : datatype ? `^^<${datatype}>` : "");
}
