// The contents of a report's page, as askgraph.evaluation.reports.page packs them.

import type { UsageView } from "../api/types.ts";

export type Value = string | number | boolean | null;
export type Score = readonly [precision: number, recall: number, f1: number];

export interface Answer {
  readonly system: number;
  readonly status: string;
  readonly confidence: number;
  readonly scores: Readonly<Record<string, Score>>;
  readonly sparql: string | null;
  /** The query laid out, if that is not how it is written. */
  readonly sparql_laid?: string;
  readonly executed: boolean;
  readonly drafts: readonly number[];
  readonly attempts: number;
  readonly usage: UsageView;
  readonly failure: string | null;
  readonly error: string | null;
  readonly gold_error: string | null;
  readonly seconds?: number;
}

export interface Question {
  readonly benchmark: string;
  readonly id: string;
  readonly text: string;
  readonly language: string;
  readonly tags: readonly string[];
  readonly form: string;
  readonly patterns: number | null;
  readonly unanswerable: boolean;
  readonly gold: string | null;
  readonly gold_laid?: string;
  readonly link: string;
  /** The part that holds its details, and their place there. */
  readonly details: readonly [part: number, place: number];
  readonly answers: readonly Answer[];
}

interface Index {
  readonly metric: string;
  readonly metrics: readonly string[];
  readonly times: boolean;
  readonly head: number;
  readonly systems: readonly string[];
  readonly benchmarks: readonly string[];
  readonly questions: readonly Question[];
}

/** The head of a result; `n` is the number of all its rows. */
export interface Rows {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
  readonly n: number;
}

/** A step of a trace; each kind of step has keys of its own. */
export interface Step {
  readonly step: string;
  readonly [key: string]: unknown;
}

export interface Detail {
  readonly steps: readonly Step[];
  readonly predicted: Rows | null;
  readonly gold: Rows | null;
  readonly missing: Rows["rows"];
  readonly extra: Rows["rows"];
}

type Grade = "right" | "part" | "wrong";

export const GRADES: Readonly<Record<Grade, string>> = {
  right: "right",
  part: "in part",
  wrong: "wrong",
};

const RIGHT = 1 - 1e-9;

export const index = await unpack<Index>("index");

const opened = new Map<number, Promise<readonly (readonly Detail[])[]>>();

/** The details of a question's answers, from the part that holds them. */
export async function detailsOf({ details: [part, place] }: Question): Promise<readonly Detail[]> {
  const found = opened.get(part) ?? unpack(`part-${part}`);
  opened.set(part, found);
  return (await found)[place] ?? [];
}

async function unpack<T>(id: string): Promise<T> {
  const text = document.getElementById(id)?.textContent ?? "";
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()) as T;
}

/** The F1 of an answer by the metric of the report. */
export function mainScore(answer: Answer): number {
  return answer.scores[index.metric]?.[2] ?? 0;
}

export function gradeOf(score: number): Grade {
  return score >= RIGHT ? "right" : score > 0 ? "part" : "wrong";
}

/** A score between 0 and 1 in hundredths; only a perfect score shows as 100. */
export function percent(score: number): string {
  if (score >= RIGHT) return "100";
  return score === 0 ? "0" : Math.min(99.9, 100 * score).toFixed(1);
}

export function counted(number: number, one: string): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : `${one}s`}`;
}

/** A name as words: `tool_use` is “tool use”. */
export function spoken(name: string): string {
  return name.replaceAll("_", " ");
}

// The lines in which two queries differ; the names of variables do not count.

const VARIABLE = /[?$][\p{L}\p{N}_]+/gu;
const MOST = 1e6; // pairs of lines

/** The places of the lines of two queries that the other lacks, if a name stands for one name. */
export function compareLines(one: string, other: string): [Set<number>, Set<number>] {
  const [left, right] = [repeatSubjects(one), repeatSubjects(other)];
  if (left.length * right.length > MOST) return [new Set(), new Set()];
  const names = new Map<string, string>();
  const taken = new Map<string, string>();
  const same = findCommonPlaces(left.map(bare), right.map(bare)).filter(([i, j]) =>
    matchVariables(left[i]?.match(VARIABLE) ?? [], right[j]?.match(VARIABLE) ?? [], names, taken),
  );
  return [
    listLacking(left, new Set(same.map(([i]) => i))),
    listLacking(right, new Set(same.map(([, j]) => j))),
  ];
}

/** Whether a line declares a prefix, or is empty. */
export function isPrologue(line: string): boolean {
  return /^\s*((PREFIX|BASE)\b|$)/i.test(line);
}

function listLacking(lines: readonly string[], found: ReadonlySet<number>): Set<number> {
  return new Set([...lines.keys()].filter((at) => !found.has(at) && !isPrologue(lines[at] ?? "")));
}

/** The lines; those that go on with a subject after a semicolon have it again. */
function repeatSubjects(query: string): string[] {
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
function matchVariables(
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

/** The places of a longest common subsequence, as pairs in their order. */
function findCommonPlaces(left: readonly string[], right: readonly string[]) {
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
