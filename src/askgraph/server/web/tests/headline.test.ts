// The headline of an answer.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnswerView } from "../src/api/types.ts";
import { headlineOf, piecesOf, wantsPlaces } from "../src/ask/HeadlineView.tsx";
import { text, thing } from "./cells.ts";

/** An answer, as far as its headline goes. */
function answer(changes: Partial<AnswerView>): AnswerView {
  const cells = changes.cells ?? [];
  const usual = { columns: ["moon"], answer_columns: ["moon"], total: cells.length, cells };
  const none = { boolean: null, truncated: null, sentence: "", labels: {} };
  return { ...usual, ...none, ...changes } as AnswerView;
}

test("one value is said large, without the columns of context", () => {
  const found = headlineOf(
    answer({ columns: ["note", "moon"], cells: [[text("context"), thing("Io")]] }),
  );
  assert.deepEqual(found, { kind: "value", cells: [thing("Io")] });
});

test("a few names are a list, many a table, and so is a list that was cut off", () => {
  const rows = (count: number) => Array.from({ length: count }, (_, at) => [thing(`moon ${at}`)]);
  assert.equal(headlineOf(answer({ cells: rows(12) })).kind, "list");
  assert.deepEqual(headlineOf(answer({ cells: rows(13) })), {
    kind: "table",
    rows: 13,
    more: false,
  });
  const cut = headlineOf(
    answer({ cells: rows(3), truncated: { by: "server", reason: "3 rows at most" } }),
  );
  assert.deepEqual(cut, { kind: "table", rows: 3, more: true });
  assert.equal(headlineOf(answer({ cells: rows(3), total: 500 })).kind, "table");
});

test("rows that were counted and not all sent are not said to be the first", () => {
  const found = headlineOf(
    answer({
      cells: [[thing("Io")]],
      total: 500,
      truncated: { by: "askgraph", reason: "the first 1 of 500 rows" },
    }),
  );
  assert.deepEqual(found, { kind: "table", rows: 500, more: false });
});

test("several values say what each is", () => {
  const found = headlineOf(
    answer({
      columns: ["diameter", "mean_temperature"],
      answer_columns: ["diameter", "mean_temperature"],
      cells: [[text("6792"), text("-65")]],
    }),
  );
  assert.ok(found.kind === "value");
  assert.deepEqual(found.columns, ["diameter", "mean temperature"]);
});

test("a long text is no headline", () => {
  assert.equal(headlineOf(answer({ cells: [[text("word ".repeat(60))]] })).kind, "table");
});

test("a yes, and nothing at all, are said as such", () => {
  assert.deepEqual(headlineOf(answer({ boolean: false })), { kind: "boolean", yes: false });
  assert.deepEqual(headlineOf(answer({})), { kind: "nothing" });
});

test("unbound values are passed over", () => {
  assert.deepEqual(headlineOf(answer({ cells: [[thing("Io")], [null]] })), {
    kind: "list",
    cells: [thing("Io")],
  });
});

test("a sentence is cut at the things that it names, and numbers stay with their units", () => {
  const cells = [[thing("Io")], [thing("Titan")], [thing("Europa")]];
  const sentence = "Io (3,643 km), Titan (1.3 × 10²³ kg) and 9 more are 11 of 42 moons.";
  assert.deepEqual(piecesOf(answer({ cells, sentence })), [
    "",
    thing("Io"),
    " (3,643\u00a0km), ",
    thing("Titan"),
    " (1.3\u00a0×\u00a010²³\u00a0kg) and 9\u00a0more are 11\u00a0of\u00a042\u00a0moons.",
  ]);
});

test("a question is about places if it says where, or names a map", () => {
  const wanting = [
    "Where are the launch sites?",
    "Wo liegen sie?",
    "Où sont les villes ?",
    "¿Dónde están las ciudades?",
    "show the launch sites on a map",
    "Zeige die Startplätze auf einer Karte",
  ];
  assert.deepEqual(wanting.filter(wantsPlaces), wanting);
  const others = ["Which maps are there of the cartel?", "Wofür?", "Who mapped Mars?", "Woran?"];
  assert.deepEqual(others.filter(wantsPlaces), []);
});
