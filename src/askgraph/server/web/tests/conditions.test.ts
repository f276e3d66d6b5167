// Values that rows are filtered by, as they are typed.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Row } from "../src/api/types.ts";
import { columnsOf } from "../src/results/columns.ts";
import { comparisonsOf, typedValue } from "../src/results/conditions.ts";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const ROWS: Row[] = [
  [
    { type: "iri", value: "http://x/Io", label: "Io" },
    { type: "literal", value: "3643", datatype: `${XSD}integer` },
    { type: "literal", value: "1610-01-07", datatype: `${XSD}date` },
    { type: "literal", value: "volcanic" },
  ],
];
const [moon, size, found, note] = columnsOf(["moon", "size", "found", "note"], ROWS, []);

test("numbers and times are compared, texts contain, things are left alone", () => {
  assert.ok(moon && size && found && note);
  assert.deepEqual(comparisonsOf(moon), []);
  assert.equal(comparisonsOf(size)[0], ">");
  assert.equal(comparisonsOf(found).includes("<="), true);
  assert.deepEqual(comparisonsOf(note), ["contains"]);
});

test("a value has the datatype of its column, and what is none is refused", () => {
  assert.ok(size && found && note);
  const typed = (text: string, column: typeof size) => typedValue(text, column, ROWS);
  assert.deepEqual(typed("3,500", size), { value: "3500", datatype: `${XSD}integer` });
  assert.deepEqual(typed("3.5", size), { value: "3.5", datatype: `${XSD}decimal` });
  assert.equal(typed("large", size), null);
  assert.deepEqual(typed("1610", found), { value: "1610-01-01", datatype: `${XSD}date` });
  assert.equal(typed("", note), null);
  assert.deepEqual(typed(" hot ", note), { value: "hot", datatype: null });
});
