// The rows of a table in another order, and fewer of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cell } from "../src/api/types.ts";
import { columnsOf } from "../src/results/columns.ts";
import { matching, nextOrder, sorted } from "../src/results/sorting.ts";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const number = (value: string): Cell => ({ type: "literal", value, datatype: `${XSD}decimal` });
const year = (value: string): Cell => ({ type: "literal", value, datatype: `${XSD}gYear` });
const thing = (label: string): Cell => ({ type: "iri", value: `http://x/${label}`, label });

function values(
  cells: (Cell | null)[],
  direction: "ascending" | "descending",
  locale = "en",
): (string | null)[] {
  const rows = cells.map((cell, at) => ({ row: [cell], number: at }));
  return sorted(rows, { column: 0, direction }, locale).map(
    ({ row }) => row[0]?.label ?? row[0]?.value ?? null,
  );
}

test("numbers are sorted by value and what is not bound comes last both ways", () => {
  const cells = [number("10"), null, number("9.5"), number("-2"), number("1e3")];
  assert.deepEqual(values(cells, "ascending"), ["-2", "9.5", "10", "1e3", null]);
  assert.deepEqual(values(cells, "descending"), ["1e3", "10", "9.5", "-2", null]);
});

test("years before and after Christ are in the order of time", () => {
  assert.deepEqual(values([year("1969"), year("-0044"), year("0079")], "ascending"), [
    "-0044",
    "0079",
    "1969",
  ]);
});

test("names are sorted as the language does, numbers in them by value", () => {
  assert.deepEqual(values(["Zeta", "Ärger", "alpha"].map(thing), "ascending", "de"), [
    "alpha",
    "Ärger",
    "Zeta",
  ]);
  assert.deepEqual(values(["STS-107", "STS-9"].map(thing), "ascending"), ["STS-9", "STS-107"]);
});

test("equal rows stay in the order they came in", () => {
  const rows = ["a", "b", "c"].map((name, at) => ({ row: [number("1"), thing(name)], number: at }));
  const found = sorted(rows, { column: 0, direction: "descending" }, "en");
  assert.deepEqual(
    found.map((item) => item.number),
    [0, 1, 2],
  );
});

test("a head pressed three times gives ascending, descending and the order of before", () => {
  const first = nextOrder(null, 1);
  assert.deepEqual(first, { column: 1, direction: "ascending" });
  const second = nextOrder(first, 1);
  assert.deepEqual(second, { column: 1, direction: "descending" });
  assert.equal(nextOrder(second, 1), null);
  assert.deepEqual(nextOrder(second, 0), { column: 0, direction: "ascending" });
});

test("a row is found by words from any of its columns, without accents", () => {
  const rows = [
    [thing("Gagarin"), thing("Baïkonur")],
    [thing("Ride"), thing("Kennedy")],
  ].map((row, at) => ({ row, number: at }));
  const columns = columnsOf(
    ["person", "site"],
    rows.map(({ row }) => row),
    [],
  );
  const found = (search: string) =>
    matching(rows, columns, search, "en").map((item) => item.number);
  assert.deepEqual(found("baikonur GAG"), [0]);
  assert.deepEqual(found(""), [0, 1]);
  assert.deepEqual(found("gagarin kennedy"), []);
  assert.deepEqual(found("http://x/ride"), [1]);
});
