// The lines in which two queries differ; the names of variables do not count.

import { commonPlaces } from "../compare/agreement.ts";

const VARIABLE = /[?$][\p{L}\p{N}_]+/gu;
const MOST = 1e6; // pairs of lines

/** The places of the lines of two queries that the other lacks, if a name stands for one name. */
export function differingLines(one: string, other: string): [Set<number>, Set<number>] {
  const [left, right] = [withSubjects(one), withSubjects(other)];
  if (left.length * right.length > MOST) return [new Set(), new Set()];
  const names = new Map<string, string>();
  const taken = new Map<string, string>();
  const same = commonPlaces(left.map(bare), right.map(bare)).filter(([i, j]) =>
    agree(left[i]?.match(VARIABLE) ?? [], right[j]?.match(VARIABLE) ?? [], names, taken),
  );
  return [
    lacking(left, new Set(same.map(([i]) => i))),
    lacking(right, new Set(same.map(([, j]) => j))),
  ];
}

/** Whether a line declares a prefix, or is empty. */
export function isPrologue(line: string): boolean {
  return /^\s*((PREFIX|BASE)\b|$)/i.test(line);
}

function lacking(lines: readonly string[], found: ReadonlySet<number>): Set<number> {
  return new Set([...lines.keys()].filter((at) => !found.has(at) && !isPrologue(lines[at] ?? "")));
}

/** The lines; those that go on with a subject after a semicolon have it again. */
function withSubjects(query: string): string[] {
  let subject = "";
  let goesOn = false;
  return query.split("\n").map((line) => {
    const whole = goesOn ? `${subject} ${line.trim()}` : line;
    subject = whole.trim().split(/\s+/)[0] ?? "";
    goesOn = /;\s*$/.test(line);
    return whole;
  });
}

function bare(line: string): string {
  const plain = line.replace(VARIABLE, "?").replace(/\s+/g, " ");
  return plain.replace(/ ?[.;]? ?$/, "").trim();
}

/** Whether variables can stand for each other, as far as is known; then they do from now on. */
function agree(
  own: readonly string[],
  others: readonly string[],
  names: Map<string, string>,
  taken: Map<string, string>,
): boolean {
  const pairs = own.map((name, at): [string, string] => [name, others[at] ?? ""]);
  const fits = pairs.every(
    ([name, other]) => (names.get(name) ?? other) === other && (taken.get(other) ?? name) === name,
  );
  for (const [name, other] of fits ? pairs : []) {
    names.set(name, other);
    taken.set(other, name);
  }
  return fits;
}
