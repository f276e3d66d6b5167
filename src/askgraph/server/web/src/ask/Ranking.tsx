// What an answer is compared with: the runners-up of a superlative, a number's place in its class.

import { contextOf } from "../api/ask.ts";
import type { AnswerView, CellView, ContextView, RunView } from "../api/types.ts";
import { thingAddress } from "../app/router.ts";
import { formatNumber, language, locale } from "../i18n/index.ts";
import { type Fetched, useFetched } from "../parts/asking.ts";
import { Named } from "../parts/parts.tsx";
import { textOf } from "../results/texts.ts";
import { numberOf } from "../results/values.ts";
import { say } from "./words.ts";

/** Loads the ranking of an answer; null until it is there, and of an answer that has none. */
export function useRanking(run: RunView, answer: AnswerView): Fetched<ContextView | null> {
  const id = isRanked(answer) ? run.id : "";
  return useFetched(`${id} ${language.value}`, async () => (id ? contextOf(id) : null));
}

/** Whether an answer may be compared: a number, the first rows of sorted ones, or groups. */
function isRanked({ sparql, status, cells: [row], total }: AnswerView): boolean {
  const isNumber = total === 1 && row?.length === 1 && row[0] != null && numberOf(row[0]) !== null;
  return status === "answer" && (isNumber || /\b(LIMIT|GROUP BY)\s/i.test(sparql ?? ""));
}

/** The ranking with small bars; nothing if it is empty. */
export function Ranking({ value, graph }: { value: ContextView; graph: string }) {
  if (value.ranking.length === 0) return null;
  const sizes = value.ranking.map((one) => numberOf(one.value) ?? Number.NaN);
  const most = Math.max(...sizes);
  const hasBars = Math.min(...sizes) >= 0 && most > 0;
  const nameOf = (cell: CellView) => textOf(cell, locale.value);
  const own = value.ranking.find((one) => one.is_answer);
  const rows = value.class ? value.ranking : value.ranking.filter((one) => !one.is_answer);
  const placeOf = own?.is_joint ? say.jointPlaceOf : say.placeOf;
  const title =
    value.class && own
      ? placeOf(nameOf(own.entity), own.rank, value.total ?? 0, nameOf(value.class))
      : say.runnersUp;
  return (
    <table class="ranking">
      <caption class="muted small">{title}</caption>
      <tbody>
        {rows.map((one) => (
          <tr key={one.entity.value} class={one.is_answer ? "own" : ""}>
            <td class="number muted">
              {one.is_joint ? say.joint(one.rank) : formatNumber(one.rank)}
            </td>
            <th scope="row">
              <Named href={thingAddress(graph, one.entity.value)}>{nameOf(one.entity)}</Named>
            </th>
            {hasBars && (
              <td class="ranking-bar" aria-hidden="true">
                <span style={{ inlineSize: `${(100 * (numberOf(one.value) ?? 0)) / most}%` }} />
              </td>
            )}
            <td class="number">
              {nameOf(one.value)} {value.unit}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
