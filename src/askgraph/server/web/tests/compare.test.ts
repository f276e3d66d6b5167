// Agreement of answers, and differences of queries.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnswerView, Cell, RunView } from "../src/api/types.ts";
import { differences, groups, lettersOf, resultKey } from "../src/compare/agreement.ts";

const thing = (name: string): Cell => ({ type: "iri", value: `http://x/${name}` });
const number = (value: string): Cell => ({ type: "literal", value, datatype: "http://x/number" });

function answer(
  columns: string[],
  cells: (Cell | null)[][],
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

test("the same rows are the same result, whatever their order and the names of their columns", () => {
  const one = answer(["moon"], [[thing("Io")], [thing("Titan")]]);
  assert.equal(resultKey(one), resultKey(answer(["m"], [[thing("Titan")], [thing("Io")]])));
  assert.equal(
    resultKey(one),
    resultKey(answer(["m"], [[thing("Titan")], [thing("Io")], [thing("Io")]])),
  );
  const ordered = { ordered: true };
  assert.notEqual(
    resultKey(answer(["m"], [[thing("Io")], [thing("Titan")]], ordered)),
    resultKey(answer(["m"], [[thing("Titan")], [thing("Io")]], ordered)),
  );
});

test("context columns make no difference, other values do", () => {
  const bare = answer(["moon"], [[thing("Io")]]);
  const wide = answer(["moon", "size"], [[thing("Io"), number("3643")]], {
    answer_columns: ["moon"],
  });
  assert.equal(resultKey(bare), resultKey(wide));
  assert.notEqual(resultKey(bare), resultKey(answer(["moon"], [[thing("Europa")]])));
  assert.notEqual(
    resultKey(bare),
    resultKey(answer(["moon"], [[{ type: "literal", value: "http://x/Io" }]])),
  );
});

test("numbers are the same however they are written", () => {
  assert.equal(
    resultKey(answer(["n"], [[number("5")]])),
    resultKey(answer(["n"], [[number("5.0")]])),
  );
});

test("a cut-off result is the same only as one with as many rows", () => {
  const rows = [[thing("Io")]];
  assert.notEqual(
    resultKey(answer(["m"], rows, { total: 5000 })),
    resultKey(answer(["m"], rows, { total: 7000 })),
  );
});

test("yes and no are results of their own", () => {
  assert.notEqual(
    resultKey(answer([], [], { boolean: true })),
    resultKey(answer([], [], { boolean: false })),
  );
});

test("the largest group gets the first letter, refusals and questions back get none", () => {
  const io = answer(["m"], [[thing("Io")]]);
  const runs = [
    run("1", answer(["m"], [[thing("Titan")]])),
    run("2", io),
    run("3", answer([], [], { status: "refusal" })),
    run("4", io),
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
    differences("a\nb", "a\n  b").map(({ kind }) => kind),
    ["same", "same"],
  );
  const found = differences("SELECT\n  old\n}", "SELECT\n  new\n  more\n}");
  assert.deepEqual(
    found.map(({ kind, text }) => `${kind} ${text.trim()}`),
    ["same SELECT", "removed old", "added new", "added more", "same }"],
  );
});
