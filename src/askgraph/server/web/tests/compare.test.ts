// Agreement of answers, and differences of queries.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnswerView, CellView, RunView } from "../src/api/types.ts";
import { diffLines, groups, lettersOf, resultKey } from "../src/compare/agreement.ts";
import { number, text, thing } from "./cells.ts";

function answer(
  columns: string[],
  cells: (CellView | null)[][],
  more: Partial<AnswerView> = {},
): AnswerView {
  const usual = {
    status: "answer",
    boolean: null,
    ordered: false,
    answer_columns: columns,
    total: cells.length,
  };
  return { ...usual, columns, cells, ...more } as AnswerView;
}

function run(id: string, given: AnswerView | null): RunView {
  return { id, answer: given } as RunView;
}

const [io, titan] = [[thing("Io")], [thing("Titan")]];
const wide = answer(["moon", "size"], [[thing("Io"), number(3643)]], { answer_columns: ["moon"] });

test("results are the same whatever their columns are called, and their order if it does not count", () => {
  for (const [one, other] of [
    [answer(["moon"], [io, titan]), answer(["m"], [titan, io])],
    [answer(["moon"], [io, titan]), answer(["m"], [titan, io, io])],
    [answer(["moon"], [io]), wide],
    [answer(["n"], [[number("5")]]), answer(["n"], [[number("5.0")]])],
  ] as const)
    assert.equal(resultKey(one), resultKey(other));
});

test("other values, orders and numbers of rows are other results, and so are yes and no", () => {
  const ordered = { ordered: true };
  for (const [one, other] of [
    [answer(["m"], [io, titan], ordered), answer(["m"], [titan, io], ordered)],
    [answer(["m"], [io]), answer(["m"], [titan])],
    [answer(["m"], [io]), answer(["m"], [[text("http://x/Io")]])],
    [answer(["m"], [io], { total: 5000 }), answer(["m"], [io], { total: 7000 })],
    [answer([], [], { boolean: true }), answer([], [], { boolean: false })],
  ] as const)
    assert.notEqual(resultKey(one), resultKey(other));
});

test("the largest group gets the first letter, refusals and questions back get none", () => {
  const runs = [
    run("1", answer(["m"], [titan])),
    run("2", answer(["m"], [io])),
    run("3", answer([], [], { status: "refusal" })),
    run("4", answer(["m"], [io])),
    run("5", null),
  ];
  const letters = lettersOf(groups(runs));
  assert.deepEqual([...letters].sort(), [
    ["1", "B"],
    ["2", "A"],
    ["4", "A"],
  ]);
});

test("a query against itself has no difference, against another the lines that differ", () => {
  assert.deepEqual(
    diffLines("a\nb", "a\n  b").map(({ kind }) => kind),
    ["same", "same"],
  );
  const found = diffLines("SELECT\n  old\n}", "SELECT\n  new\n  more\n}");
  assert.deepEqual(
    found.map(({ kind, text }) => `${kind} ${text.trim()}`),
    ["same SELECT", "removed old", "added new", "added more", "same }"],
  );
});
