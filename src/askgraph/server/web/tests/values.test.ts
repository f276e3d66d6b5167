// Numbers, times, places and pictures in the cells of a result.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cell } from "../src/api/types.ts";
import {
  momentText,
  numberText,
  shortName,
  tabSeparated,
  textOf,
  visible,
} from "../src/results/texts.ts";
import {
  linkOf,
  momentOf,
  numberOf,
  parsedMoment,
  pictureOf,
  placeOf,
} from "../src/results/values.ts";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const WKT = "http://www.opengis.net/ont/geosparql#wktLiteral";

function literal(value: string, datatype: string | null = null): Cell {
  return { type: "literal", value, datatype };
}

test("a number is a finite one of a numeric datatype", () => {
  assert.equal(numberOf(literal("12.5", `${XSD}decimal`)), 12.5);
  assert.equal(numberOf(literal("6e24", `${XSD}double`)), 6e24);
  for (const text of ["INF", "NaN", "", " ", "12 km"]) {
    assert.equal(numberOf(literal(text, `${XSD}double`)), null, text);
  }
  assert.equal(numberOf(literal("12.5")), null);
  assert.equal(numberOf({ type: "iri", value: "5" }), null);
});

test("a time is as fine as it is written, and its zone counts", () => {
  assert.deepEqual(parsedMoment("1969-07"), {
    time: Date.UTC(1969, 6, 1),
    precision: "month",
    isZoned: false,
  });
  assert.equal(
    momentOf(literal("1969-07-20T20:17:00+02:00", `${XSD}dateTime`))?.time,
    Date.UTC(1969, 6, 20, 18, 17),
  );
  assert.equal(new Date(parsedMoment("-0044-03-15")?.time ?? 0).getUTCFullYear(), -44);
  assert.equal(new Date(parsedMoment("0079")?.time ?? 0).getUTCFullYear(), 79);
  for (const text of ["", "69", "soon", "1969-7-20"]) assert.equal(parsedMoment(text), null, text);
});

test("a point is a place on Earth, whichever order its system has", () => {
  const munich = { longitude: 11.6, latitude: 48.1 };
  assert.deepEqual(placeOf(literal("POINT(11.6 48.1)", WKT)), munich);
  assert.deepEqual(
    placeOf(literal("<http://www.opengis.net/def/crs/EPSG/0/4326> Point (48.1 11.6)", WKT)),
    munich,
  );
  assert.equal(placeOf(literal("<http://www.wikidata.org/entity/Q405> POINT(11 48)", WKT)), null);
  for (const text of ["POINT(200 48)", "POINT(a b)", "POINT EMPTY", "LINESTRING(0 0, 1 1)"]) {
    assert.equal(placeOf(literal(text, WKT)), null, text);
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
  assert.equal(pictureOf(literal("https://example.org/a.jpg")), null);
  assert.equal(pictureOf({ type: "iri", value: "javascript:a.jpg" }), null);
});

test("numbers are written for the reader's language, large ones as a power of ten", () => {
  assert.equal(numberText("139820", "en"), "139,820");
  assert.equal(numberText("139820.5", "de"), "139.820,5");
  assert.equal(numberText("12345678901234567890", "en").includes("× 10¹⁹"), true);
  assert.equal(numberText("5.972e24", "de"), "5,972 × 10²⁴");
  assert.equal(numberText("-0.0000001", "en"), "-1 × 10⁻⁷");
  assert.equal(numberText("0.0001234567", "en"), "0.000123457");
  assert.equal(numberText("INF", "en"), "INF");
  assert.equal(numberText("999999999999999", "en"), "999,999,999,999,999");
  assert.equal(numberText("0", "en"), "0");
});

test("times are written out, and years as they are", () => {
  assert.equal(
    momentText({ time: Date.UTC(1969, 6, 20), precision: "day", isZoned: false }, "de"),
    "20. Juli 1969",
  );
  assert.equal(
    momentText({ time: Date.UTC(1969, 0, 1), precision: "year", isZoned: false }, "en"),
    "1969",
  );
  assert.equal(textOf(literal("-0044", `${XSD}gYear`), "en"), "−44");
  assert.equal(textOf(literal("-0044-03-15", `${XSD}date`), "en"), "-0044-03-15");
  const moment = (text: string) => textOf(literal(text, `${XSD}dateTime`), "en-GB");
  assert.equal(moment("1969-07-20T00:00:00+02:00"), "20 July 1969");
  assert.equal(moment("1969-07-20T20:17:00"), "20 July 1969 at 20:17");
  assert.equal(moment("1969-07-20T20:17:00Z"), "20 July 1969 at 20:17 UTC");
});

test("a label cannot turn around or hide what stands beside it", () => {
  assert.equal(visible("abc\u202Egnp.exe\u2066\u2069"), "abcgnp.exe");
  assert.equal(visible("a\u0000b\nc"), "a b c");
  assert.equal(visible("שלום"), "שלום");
  assert.equal(textOf({ type: "iri", value: "http://x/1", label: "\u202Eevil" }, "en"), "evil");
});

test("a thing without a label goes by the end of its IRI", () => {
  assert.equal(shortName("http://example.org/space/Io"), "Io");
  assert.equal(shortName("http://example.org/a#B%20c"), "B c");
  assert.equal(shortName("http://example.org/%E0%A4%A"), "%E0%A4%A");
  assert.equal(shortName("urn:isbn:123"), "123");
});

test("copied rows are a line each, and no cell is a formula", () => {
  const rows = [
    [literal("a\tb\nc"), null],
    [literal("=HYPERLINK(1)"), literal("-5", `${XSD}integer`)],
    [{ type: "iri", value: "http://x/1", label: "@SUM" } as const, literal("+49 89")],
  ];
  assert.equal(
    tabSeparated(["one", "two"], rows),
    "one\ttwo\na b c\t\n'=HYPERLINK(1)\t-5\n'@SUM\t'+49 89",
  );
});
