// Classes or predicates of a graph: filtered, sorted by name or by how often they occur, in pages.

import { useMemo, useState } from "preact/hooks";
import { profile } from "../api/graphs.ts";
import type { ProfileView, SearchHitView, CellView as Term } from "../api/types.ts";
import { classAddress, propertyAddress } from "../app/router.ts";
import { formatNumber, locale, named } from "../i18n/index.ts";
import { useFetched } from "../parts/asking.ts";
import { Named, SearchField } from "../parts/parts.tsx";
import { Cell } from "../results/Cell.tsx";
import { Pager } from "../results/controls.tsx";
import { foldText } from "../results/sorting.ts";
import { stripControls } from "../results/texts.ts";
import { say } from "./words.ts";

const PAGE = 15;
const FEW = 8;

type Kind = "classes" | "predicates";

interface Props {
  readonly kind: Kind;
  readonly graph: string;
  /** May hold only the most used terms, and the number of all. */
  readonly holds: ProfileView;
}

export function TermList({ kind, graph, holds }: Props) {
  const [title, filterLabel, total, address] =
    kind === "classes"
      ? [say.classesTitle, say.filterClasses, holds.total_classes, classAddress]
      : [say.predicatesTitle, say.filterPredicates, holds.total_predicates, propertyAddress];
  const terms = termsOf(holds, kind);
  const [filter, setFilter] = useState("");
  const [order, setOrder] = useState<TermOrder>("count");
  const [page, setPage] = useState(0);
  const wanted = total > terms.length ? filter.trim() : "";
  const others = useFetched(`${graph} ${wanted}`, async (signal) =>
    wanted === "" ? null : termsOf(await profile(graph, wanted, signal), kind),
  );
  const all = wanted === "" ? terms : (others.value ?? terms);
  const found = useMemo(
    () => listed(all, filter, order, locale.value),
    [all, filter, order, locale.value],
  );
  const pages = Math.max(1, Math.ceil(found.length / PAGE));
  const at = Math.min(page, pages - 1);
  const head = (name: TermOrder, label: string) => (
    <th scope="col" class={name} aria-sort={order === name ? SORTED[name] : "none"}>
      <button type="button" onClick={() => setOrder(name)}>
        {label}
        <span class={`sort-sign ${order === name ? SORTED[name] : "none"}`} aria-hidden="true" />
      </button>
    </th>
  );
  return (
    <section class="term-list stack close">
      <div class="row spread">
        <h2 class="section-title">
          {title} <span class="muted number">{formatNumber(total)}</span>
        </h2>
        {terms.length > FEW && (
          <SearchField
            class="slim filter"
            label={filterLabel}
            value={filter}
            onText={(text) => {
              setFilter(text);
              setPage(0);
            }}
          />
        )}
      </div>
      <div class="table-scroll sheet">
        <table class="result-table">
          <thead>
            <tr>
              {head("name", say.name)}
              {head("count", say.count)}
            </tr>
          </thead>
          <tbody>
            {found.slice(at * PAGE, (at + 1) * PAGE).map((term) => (
              <tr key={term.iri}>
                <td>
                  <Named href={address(graph, term.iri)} title={term.iri}>
                    {stripControls(term.label)}
                  </Named>
                  {(term.examples.length > 0 || term.example !== null) && (
                    <p class="term-examples faint">
                      <span class="seen-by-readers">{named(say.examples)}</span>
                      {term.examples.slice(0, 3).map((cell) => (
                        <span key={cell.value} class="term-example">
                          <Cell cell={cell} graph={graph} />
                        </span>
                      ))}
                      <bdi>{stripControls(term.example ?? "")}</bdi>
                    </p>
                  )}
                </td>
                <td class="number">{formatNumber(term.count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {found.length === 0 && <p class="muted small">{say.nothingMatches}</p>}
      {pages > 1 && <Pager page={at} pages={pages} onPage={setPage} />}
    </section>
  );
}

const SORTED = { name: "ascending", count: "descending" } as const;

// Terms of a graph in the order and the choice that a reader wants.

/** A class or a predicate in a list. */
interface Listed {
  readonly iri: string;
  readonly label: string;
  readonly count: number;
  readonly examples: readonly Term[];
  readonly example: string | null;
}

type TermOrder = "name" | "count";

function termsOf({ classes, predicates }: ProfileView, kind: Kind): Listed[] {
  return kind === "classes"
    ? classes.map((one) => ({ ...one, count: one.instances, example: null }))
    : predicates.map((one) => ({ ...one, count: one.triples, examples: [] }));
}

/** The terms whose name or IRI has the text, by name or the most frequent first. */
export function listed(
  terms: readonly Listed[],
  filter: string,
  order: TermOrder,
  locale: string,
): Listed[] {
  const wanted = foldText(filter.trim());
  const found = terms.filter(({ label, iri }) => foldText(`${label}\n${iri}`).includes(wanted));
  const names = new Intl.Collator(locale, { numeric: true, sensitivity: "base" });
  const compare = (one: Listed, other: Listed) => (order === "name" ? 0 : other.count - one.count);
  return found.sort((one, other) => compare(one, other) || names.compare(one.label, other.label));
}

/** Sorts hits by match; among equals, the shortest name comes first. */
export function rankHits(hits: readonly SearchHitView[]): SearchHitView[] {
  return [...hits].sort(
    (one, other) => other.score - one.score || one.label.length - other.label.length,
  );
}
