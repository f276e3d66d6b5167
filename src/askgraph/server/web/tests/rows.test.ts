// The rows of a table: their values, in another order, and fewer of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { CellView, Row } from "../src/api/types.ts";
import { comparisonsOf, parseTyped } from "../src/results/Arranging.tsx";
import { columnsOf } from "../src/results/columns.ts";
import { filterRows, nextOrder, sortRows } from "../src/results/sorting.ts";
import {
  formatMoment,
  formatNumberText,
  shortName,
  stripControls,
  textOf,
  toTabSeparated,
} from "../src/results/texts.ts";
import {
  linkOf,
  momentOf,
  numberOf,
  parseMoment,
  pictureOf,
  placeOf,
} from "../src/results/values.ts";
import { number, text as plain, thing, typed } from "./cells.ts";

const WKT = "http://www.opengis.net/ont/geosparql#wktLiteral";
const point = (value: string) => ({ type: "literal", value, datatype: WKT }) as const;

test("a number is a finite one of a numeric datatype", () => {
  assert.equal(numberOf(typed("12.5", "decimal")), 12.5);
  assert.equal(numberOf(typed("6e24", "double")), 6e24);
  for (const text of ["INF", "NaN", "", " ", "12 km"]) {
    assert.equal(numberOf(typed(text, "double")), null, text);
  }
  assert.equal(numberOf(plain("12.5")), null);
  assert.equal(numberOf({ type: "iri", value: "5" }), null);
});

test("a time is as fine as it is written, and its zone counts", () => {
  assert.deepEqual(parseMoment("1969-07"), {
    time: Date.UTC(1969, 6, 1),
    precision: "month",
    isZoned: false,
  });
  assert.equal(
    momentOf(typed("1969-07-20T20:17:00+02:00", "dateTime"))?.time,
    Date.UTC(1969, 6, 20, 18, 17),
  );
  assert.equal(new Date(parseMoment("-0044-03-15")?.time ?? 0).getUTCFullYear(), -44);
  assert.equal(new Date(parseMoment("0079")?.time ?? 0).getUTCFullYear(), 79);
  for (const text of ["", "69", "soon", "1969-7-20"]) assert.equal(parseMoment(text), null, text);
});

test("a point is a place on Earth, whichever order its system has", () => {
  const munich = { longitude: 11.6, latitude: 48.1 };
  assert.deepEqual(placeOf(point("POINT(11.6 48.1)")), munich);
  assert.deepEqual(
    placeOf(point("<http://www.opengis.net/def/crs/EPSG/0/4326> Point (48.1 11.6)")),
    munich,
  );
  assert.equal(placeOf(point("<http://www.wikidata.org/entity/Q405> POINT(11 48)")), null);
  for (const text of ["POINT(200 48)", "POINT(a b)", "POINT EMPTY", "LINESTRING(0 0, 1 1)"]) {
    assert.equal(placeOf(point(text)), null, text);
  }
});

test("only addresses of http and https without credentials become links", () => {
  assert.equal(linkOf("https://example.org/a"), "https://example.org/a");
  for (const text of [
    "javascript:alert(1)",
    "java\nscript:alert(1)",
    " https://example.org",
    "data:text/html,<script>",
    "file:///etc/passwd",
    "https://user:secret@example.org/",
    "https://",
    "urn:uuid:1",
  ]) {
    assert.equal(linkOf(text), null, text);
  }
});

test("a picture is an address that ends like one; a text that looks so is none", () => {
  assert.ok(pictureOf({ type: "iri", value: "https://example.org/a.JPG" }));
  assert.ok(
    pictureOf({ type: "iri", value: "http://commons.wikimedia.org/wiki/Special:FilePath/Mars" }),
  );
  assert.equal(pictureOf({ type: "iri", value: "https://example.org/a.jpg/more" }), null);
  assert.equal(pictureOf(plain("https://example.org/a.jpg")), null);
  assert.equal(pictureOf({ type: "iri", value: "javascript:a.jpg" }), null);
});

test("numbers are written for the reader's language, large ones as a power of ten", () => {
  assert.equal(formatNumberText("139820", "en"), "139,820");
  assert.equal(formatNumberText("139820.5", "de"), "139.820,5");
  assert.equal(formatNumberText("12345678901234567890", "en").includes("× 10¹⁹"), true);
  assert.equal(formatNumberText("5.972e24", "de"), "5,972 × 10²⁴");
  assert.equal(formatNumberText("-0.0000001", "en"), "-1 × 10⁻⁷");
  assert.equal(formatNumberText("0.0001234567", "en"), "0.000123457");
  assert.equal(formatNumberText("INF", "en"), "INF");
  assert.equal(formatNumberText("999999999999999", "en"), "999,999,999,999,999");
  assert.equal(formatNumberText("0", "en"), "0");
});

test("times are written out, and years as they are", () => {
  assert.equal(
    formatMoment({ time: Date.UTC(1969, 6, 20), precision: "day", isZoned: false }, "de"),
    "20. Juli 1969",
  );
  assert.equal(
    formatMoment({ time: Date.UTC(1969, 0, 1), precision: "year", isZoned: false }, "en"),
    "1969",
  );
  assert.equal(textOf(typed("-0044", "gYear"), "en"), "−44");
  assert.equal(textOf(typed("-0044-03-15", "date"), "en"), "-0044-03-15");
  const moment = (text: string) => textOf(typed(text, "dateTime"), "en-GB");
  assert.equal(moment("1969-07-20T00:00:00+02:00"), "20 July 1969");
  assert.equal(moment("1969-07-20T20:17:00"), "20 July 1969 at 20:17");
  assert.equal(moment("1969-07-20T20:17:00Z"), "20 July 1969 at 20:17 UTC");
});

test("a label cannot turn around or hide what stands beside it", () => {
  assert.equal(stripControls("abc\u202Egnp.exe\u2066\u2069"), "abcgnp.exe");
  assert.equal(stripControls("a\u0000b\nc"), "a b c");
  assert.equal(stripControls("שלום"), "שלום");
  assert.equal(textOf({ type: "iri", value: "http://x/1", label: "\u202Eevil" }, "en"), "evil");
});

test("a thing without a label goes by the end of its IRI", () => {
  assert.equal(shortName("http://example.org/space/Io"), "Io");
  assert.equal(shortName("http://example.org/a#B%20c"), "B c");
  assert.equal(shortName("http://example.org/%E0%A4%A"), "%E0%A4%A");
  assert.equal(shortName("http://example.org/a%20b/"), "a b");
  assert.equal(shortName("http://example.org/Neil_Armstrong"), "Neil Armstrong");
  assert.equal(shortName("urn:isbn:123"), "123");
  assert.equal(textOf(thing("Io"), "en"), "Io");
  assert.equal(textOf({ type: "blank", value: "_:b0" }, "en"), "…");
});

test("copied rows are a line each, and no cell is a formula", () => {
  const rows = [
    [plain("a\tb\nc"), null],
    [plain("=HYPERLINK(1)"), typed("-5", "integer")],
    [{ type: "iri", value: "http://x/1", label: "@SUM" } as const, plain("+49 89")],
  ];
  assert.equal(
    toTabSeparated(["one", "two"], rows),
    "one\ttwo\na b c\t\n'=HYPERLINK(1)\t-5\n'@SUM\t'+49 89",
  );
});

// The rows of a table in another order, and fewer of them.

const year = (value: string) => typed(value, "gYear");

function values(
  cells: (CellView | null)[],
  direction: "ascending" | "descending",
  locale = "en",
): (string | null)[] {
  const rows = cells.map((cell, at) => ({ row: [cell], number: at }));
  return sortRows(rows, { column: 0, direction }, locale).map(
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
  const found = sortRows(rows, { column: 0, direction: "descending" }, "en");
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
    filterRows(rows, columns, search, "en").map((item) => item.number);
  assert.deepEqual(found("baikonur GAG"), [0]);
  assert.deepEqual(found(""), [0, 1]);
  assert.deepEqual(found("gagarin kennedy"), []);
  assert.deepEqual(found("http://x/ride"), [1]);
});

// Values that rows are filtered by, as they are typed.

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
  const typed = (text: string, column: typeof size) => parseTyped(text, column, ROWS);
  assert.deepEqual(typed("3,500", size), { value: "3500", datatype: `${XSD}integer` });
  assert.deepEqual(typed("3.5", size), { value: "3.5", datatype: `${XSD}decimal` });
  assert.equal(typed("large", size), null);
  assert.deepEqual(typed("1610", found), { value: "1610-01-01", datatype: `${XSD}date` });
  assert.equal(typed("", note), null);
  assert.deepEqual(typed(" hot ", note), { value: "hot", datatype: null });
});
