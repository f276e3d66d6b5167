// Things of a result whose places are asked for.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cell, Row } from "../src/api/types.ts";
import { columnsOf } from "../src/results/columns.ts";
import { pinsAt, thingsOf } from "../src/results/places.ts";

const thing = (name: string): Cell => ({ type: "iri", value: `http://x/${name}`, label: name });

test("several things are asked for, each once; one thing, texts and many are not", () => {
  const things = (rows: Row[]) => thingsOf(columnsOf(["town"], rows, []), rows);
  assert.deepEqual(things([[thing("Lima")], [thing("Bonn")], [thing("Lima")]]), [
    "http://x/Lima",
    "http://x/Bonn",
  ]);
  assert.deepEqual(things([[thing("Lima")]]), []);
  assert.deepEqual(things([[{ type: "literal", value: "Lima" }]]), []);
  assert.deepEqual(things(Array.from({ length: 300 }, (_, at) => [thing(`t${at}`)])), []);
  assert.deepEqual(things([[thing("a b")], [thing("c>d")]]), []);
});

test("rows whose thing has a known place are pins", () => {
  const rows: Row[] = [[thing("Lima")], [thing("Nowhere")]];
  const known = new Map([["http://x/Lima", { longitude: -77, latitude: -12 }]]);
  const pins = pinsAt(
    known,
    columnsOf(["town"], rows, []),
    rows,
    (row, at) => row[at]?.label ?? "",
  );
  assert.deepEqual(
    pins.map(({ row, name }) => [row, name]),
    [[0, "Lima"]],
  );
});
