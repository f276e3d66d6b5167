// What can be added to the reading of an answer: a column, a condition, an order, a group.

import { useRef, useState } from "preact/hooks";
import { type Refinement, tableOf } from "../api/graphs.ts";
import type { AnswerView, CellView } from "../api/types.ts";
import { formatNumber, locale } from "../i18n/index.ts";
import { moveAmongOffers, useFetched } from "../parts/asking.ts";
import { type Offer, Offers, ProblemNote, SearchField, Select } from "../parts/parts.tsx";
import { headingOf } from "../results/columns.ts";
import { textOf } from "../results/texts.ts";
import { say } from "./words.ts";

interface AddingProps {
  readonly answer: AnswerView;
  readonly graph: string;
  readonly columns: readonly string[];
  readonly add: (wanted: Refinement) => void;
}

/** The columns that hold things, which have properties. */
export function thingColumns({ columns, cells }: AnswerView): string[] {
  return columns.filter((_, at) => cells.some((row) => row[at]?.type === "iri"));
}

export function Adding({ answer, graph, columns, add }: AddingProps) {
  const [column, setColumn] = useState(columns[0] ?? "");
  const [property, setProperty] = useState<CellView | null>(null);
  const [sought, setSought] = useState("");
  const panel = useRef<HTMLDivElement>(null);
  const query = countRows(answer.sparql ?? "", column, property?.value);
  const { value, problem, busy } = useFetched(query, () => tableOf(graph, query));
  const at = answer.columns.indexOf(column);
  const things = new Set(answer.cells.map((row) => row[at]?.value)).size;
  const total = answer.total > answer.cells.length ? answer.total : things;
  const found = busy ? [] : (value?.cells ?? []);
  const offers = found.flatMap(([cell, count]): Offer[] => {
    const name = cell ? textOf(cell, locale.value) : "";
    const rows = Number(count?.value);
    if (!cell || cell.type === "blank" || NAME.test(cell.value)) return [];
    if (!name.toLowerCase().includes(sought.toLowerCase())) return [];
    const pattern = `?${column} <${property?.value}> ${writeTerm(cell)}`;
    if (property) return [{ name, hint: say.rows(rows), take: () => add({ pattern }) }];
    const take = () => {
      setProperty(cell);
      setSought("");
      panel.current?.querySelector("input")?.focus();
    };
    const percent = formatNumber(Math.min(100, Math.round((100 * rows) / total)));
    return [{ name, title: cell.value, hint: `${percent} %`, take }];
  });
  const label = property && textOf(property, locale.value);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys of the field and of what it found
    <div
      class="stack close"
      ref={panel}
      onKeyDown={(event) => moveAmongOffers(panel.current, event)}
    >
      {columns.length > 1 && !property && (
        <Select
          label={say.addTo}
          value={column}
          options={columns.map((name) => [name, headingOf(name, answer.labels)])}
          onChoose={setColumn}
        />
      )}
      <SearchField
        label={label ?? say.searchProperty}
        value={sought}
        onText={setSought}
        input={{ "data-first": true }}
      />
      {property && !sought && (
        <Offers offers={wholeOffers(answer, column, property, found[0]?.[0], add)} />
      )}
      {property && offers.length > 0 && <p class="small muted">{say.onlyWith}</p>}
      {busy && <span class="spinner" />}
      <Offers offers={offers} label={label ?? say.add} />
      <ProblemNote problem={problem} />
    </div>
  );
}

/** Offers to add all values of a property: as a column, sorted, or counted. */
function wholeOffers(
  { sparql }: AnswerView,
  column: string,
  property: CellView,
  first: CellView | null | undefined,
  add: (wanted: Refinement) => void,
): Offer[] {
  let name = /[\p{L}\p{N}_]+$/u.exec(property.value)?.[0] ?? "value";
  while (sparql?.includes(`?${name}`)) name += "_2";
  const pattern = `?${column} <${property.value}> ?${name}`;
  const sorted = { pattern, sort_by: name, descending: true };
  return [
    { name: say.asColumn, take: () => add({ pattern }) },
    ...(first?.type === "literal" ? [{ name: say.largestFirst, take: () => add(sorted) }] : []),
    { name: say.countEach, take: () => add({ pattern, count_by: name }) },
  ];
}

/** The names of things, which a result shows anyway. */
const NAME = /[/#](?:label|prefLabel|altLabel|name)$/;
const PROLOGUE = /^(?:\s*(?:#.*|prefix\s+\S*\s*<[^>]*>|base\s*<[^>]*>))*/i;

/** Counts the things of a column by their properties, or by their values of one. */
function countRows(query: string, column: string, property?: string): string {
  const [prologue = ""] = PROLOGUE.exec(query) ?? [];
  const pattern = property ? `<${property}> ?choice` : "?choice ?any";
  return `${prologue}
SELECT ?choice (COUNT(DISTINCT ?${column}) AS ?rows) {
  { ${query.slice(prologue.length)}
  } ?${column} ${pattern}
} GROUP BY ?choice ORDER BY DESC(?rows) LIMIT 40`;
}

function writeTerm({ type, value, language, datatype }: CellView): string {
  if (type === "iri") return `<${value}>`;
  return JSON.stringify(value) + (language ? `@${language}` : datatype ? `^^<${datatype}>` : "");
}
