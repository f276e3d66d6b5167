// Which of several answers are the same: by what they answer, not by how they asked.

import type { AnswerView, Cell, RunView } from "../api/types.ts";

/** Runs with one and the same result, the largest group first. */
export interface Group {
  runs: RunView[];
  /** Whether these runs have an answer at all. */
  answered: boolean;
}

/** The finished runs, grouped by their results; runs without an answer are groups at the end. */
export function groups(runs: readonly RunView[]): Group[] {
  const byResult = new Map<string, Group>();
  for (const run of runs) {
    const key = run.answer && run.answer.status === "answer" ? resultKey(run.answer) : null;
    const group = byResult.get(key ?? run.id);
    if (group) group.runs.push(run);
    else byResult.set(key ?? run.id, { runs: [run], answered: key !== null });
  }
  const all = [...byResult.values()];
  const weight = (group: Group) => (group.answered ? group.runs.length : 0);
  return all.sort((one, other) => weight(other) - weight(one));
}

/** What an answer answers, as a text that is the same for the same results.
 *
 * Names of columns and context columns play no part; the order of rows only where it is asked for.
 */
export function resultKey(answer: AnswerView): string {
  if (answer.boolean !== null) return `boolean ${answer.boolean}`;
  const chosen = answer.columns.flatMap((name, index) =>
    answer.answer_columns.includes(name) ? [index] : [],
  );
  const columns = chosen.length > 0 ? chosen : answer.columns.map((_, index) => index);
  const rows = answer.cells.map((row) =>
    JSON.stringify(columns.map((index) => cellKey(row[index] ?? null)).sort()),
  );
  if (!answer.ordered) rows.sort();
  const kept = answer.ordered ? rows : rows.filter((row, index) => row !== rows[index - 1]);
  return JSON.stringify([
    answer.ordered,
    answer.total > rows.length ? answer.total : kept.length,
    kept,
  ]);
}

function cellKey(cell: Cell | null): string {
  if (!cell) return "";
  if (cell.type !== "literal") return `<${cell.value}>`;
  const number = Number(cell.value);
  return cell.value.trim() !== "" && Number.isFinite(number)
    ? `#${Number(number.toPrecision(9))}`
    : `"${cell.value}"`;
}

/** The letters of results by the ids of their runs: A for the one that most give. */
export function lettersOf(all: readonly Group[]): Map<string, string> {
  const answered = all.filter((group) => group.answered);
  return new Map(
    answered.flatMap(({ runs }, at) =>
      runs.map(({ id }): [string, string] => [id, String.fromCharCode(65 + (at % 26))]),
    ),
  );
}
