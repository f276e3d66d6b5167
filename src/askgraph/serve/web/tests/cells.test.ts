// Terms are shown as people read them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { speak } from "../src/i18n/index.ts";
import { cellText, isWebAddress, localName, numberText } from "../src/parts/cells.ts";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const typed = (value: string, type: string) =>
  ({ type: "literal", value, datatype: XSD + type }) as const;

test("numbers have the language's separators", () => {
  speak("en");
  assert.equal(cellText(typed("5149.5", "decimal")), "5,149.5");
  speak("de");
  assert.equal(cellText(typed("5149.5", "decimal")), "5.149,5");
  speak("en");
});

test("a number too long to read has its power of ten", () => {
  assert.equal(numberText("641700000000000000000000"), "6.417 × 10²³");
  assert.equal(numberText("0.00000000012"), "1.2 × 10⁻¹⁰");
  assert.equal(numberText("123456789012"), "123,456,789,012");
  assert.equal(numberText("INF"), "INF");
});

test("days are in words, moments with their time, and what is no day stays as it is", () => {
  assert.equal(cellText(typed("1969-07-16", "date")), "July 16, 1969");
  assert.match(cellText(typed("1969-07-16T13:32:00Z", "dateTime")), /July 16, 1969.*1:32/);
  assert.equal(cellText(typed("1969-07-16T00:00:00Z", "dateTime")), "July 16, 1969");
  for (const odd of ["-0044-03-15", "1969", "soon", "0079-08-24"]) {
    assert.equal(cellText(typed(odd, "date")), odd);
  }
});

test("a thing has its label, else the end of its IRI", () => {
  assert.equal(
    cellText({ type: "iri", value: "http://e.org/Io", label: "Io, the moon" }),
    "Io, the moon",
  );
  assert.equal(localName("http://e.org/Neil_Armstrong"), "Neil Armstrong");
  assert.equal(localName("http://e.org/a%20b/"), "a b");
  assert.equal(localName("http://e.org/100%"), "100%");
});

test("only addresses of the web become links", () => {
  assert.ok(isWebAddress("https://e.org/a?b#c"));
  for (const iri of [
    "javascript:alert(1)",
    "data:text/html,x",
    "urn:x",
    "http://e.org/<b>",
    "//e.org",
  ]) {
    assert.ok(!isWebAddress(iri), iri);
  }
});
