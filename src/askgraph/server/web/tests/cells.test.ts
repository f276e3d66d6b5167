// Terms are shown as people read them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cellText } from "../src/ask/HeadlineView.tsx";
import { speak } from "../src/i18n/languages.ts";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const typed = (value: string, type: string) =>
  ({ type: "literal", value, datatype: XSD + type }) as const;

test("numbers have the language's separators", async () => {
  await speak("en");
  assert.equal(cellText(typed("5149.5", "decimal")), "5,149.5");
  await speak("de");
  assert.equal(cellText(typed("5149.5", "decimal")), "5.149,5");
  await speak("en");
});

test("days are in words, moments with their time, and what is no day stays as it is", () => {
  assert.equal(cellText(typed("1969-07-16", "date")), "July 16, 1969");
  assert.match(cellText(typed("1969-07-16T13:32:00Z", "dateTime")), /July 16, 1969.*1:32/);
  assert.equal(cellText(typed("1969-07-16T00:00:00Z", "dateTime")), "July 16, 1969");
  for (const odd of ["-0044-03-15", "1969", "soon"]) {
    assert.equal(cellText(typed(odd, "date")), odd);
  }
});

test("a thing has its label, else the end of its IRI", () => {
  const iri = "http://e.org/Neil_Armstrong";
  assert.equal(cellText({ type: "iri", value: iri, label: "Neil" }), "Neil");
  assert.equal(cellText({ type: "iri", value: iri }), "Neil Armstrong");
  assert.equal(cellText({ type: "iri", value: "http://e.org/a%20b/" }), "a b");
  assert.equal(cellText({ type: "iri", value: "http://e.org/100%" }), "100%");
  assert.equal(cellText({ type: "blank", value: "_:b0" }), "…");
  assert.equal(cellText(null), "");
});
