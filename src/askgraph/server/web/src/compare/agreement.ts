// Groups of equal answers: by their results, not by their queries.

import type { AnswerView, CellView, RunView } from "../api/types.ts";
import { answerColumns } from "../results/values.ts";

/** Runs with one and the same result, the largest group first. */
interface Group {
  runs: RunView[];
  /** Whether these runs have an answer. */
  answered: boolean;
}

/** Groups finished runs by result; runs without an answer come last. */
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

/** Converts the result of an answer to a text that is equal for equal results.
 *
 * It ignores column names and context columns, and the order of rows if nothing asks for one.
 */
export function resultKey(answer: AnswerView): string {
  if (answer.boolean !== null) return `boolean ${answer.boolean}`;
  const columns = answerColumns(answer);
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

function cellKey(cell: CellView | null): string {
  if (!cell) return "";
  if (cell.type !== "literal") return `<${cell.value}>`;
  const number = Number(cell.value);
  return cell.value.trim() !== "" && Number.isFinite(number)
    ? `#${Number(number.toPrecision(9))}`
    : `"${cell.value}"`;
}

/** Returns the letters of results by the ids of their runs: A for the most frequent result. */
export function lettersOf(all: readonly Group[]): Map<string, string> {
  const answered = all.filter((group) => group.answered);
  return new Map(
    answered.flatMap(({ runs }, at) =>
      runs.map(({ id }): [string, string] => [id, String.fromCharCode(65 + (at % 26))]),
    ),
  );
}

// The differences of two queries, line by line.

interface Line {
  kind: "same" | "removed" | "added";
  text: string;
}

/** The lines of both texts in order: those of both, those of the first only, of the second only. */
export function diffLines(first: string, second: string): Line[] {
  const [before, after] = [first.split("\n"), second.split("\n")];
  const common = findCommonPlaces(
    before.map((line) => line.trim()),
    after.map((line) => line.trim()),
  );
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  for (const [one, other] of [...common, [before.length, after.length] as const]) {
    for (; i < one; i += 1) lines.push({ kind: "removed", text: before[i] ?? "" });
    for (; j < other; j += 1) lines.push({ kind: "added", text: after[j] ?? "" });
    if (one < before.length) lines.push({ kind: "same", text: after[j] ?? "" });
    [i, j] = [i + 1, j + 1];
  }
  return lines;
}

/** The places of a longest common subsequence, as pairs in their order. */
export function findCommonPlaces(left: readonly string[], right: readonly string[]) {
  const width = right.length + 1;
  const longest = new Uint16Array((left.length + 1) * width);
  const at = (i: number, j: number) => longest[i * width + j] ?? 0;
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] =
        left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pairs: [number, number][] = [];
  for (let [i, j] = [0, 0]; i < left.length && j < right.length; ) {
    if (left[i] === right[j]) {
      pairs.push([i, j]);
      [i, j] = [i + 1, j + 1];
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}
