// Queries are coloured, completed by the graph's names, and marked if something is wrong.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Text } from "@codemirror/state";
import { classHighlighter, highlightTree } from "@lezer/highlight";
import type { FindingView, VocabularyView } from "../src/api/types.ts";
import { compact, findMarks, options, spanOf, sparql } from "../src/editor/editor.ts";
import { tokenLines } from "../src/editor/sparql.ts";

const VOCABULARY: VocabularyView = {
  prefixes: { ex: "http://e.org/", ont: "http://e.org/ontology#" },
  classes: [{ iri: "http://e.org/ontology#Moon", label: "moon", count: 50 }],
  predicates: [{ iri: "http://e.org/ontology#orbits", label: "is a satellite of", count: 90 }],
};

function coloured(query: string): string[] {
  const found: string[] = [];
  highlightTree(sparql.parser.parse(query), classHighlighter, (from, to, name) =>
    found.push(`${query.slice(from, to)} ${name.replaceAll("tok-", "")}`),
  );
  return found;
}

test("keywords, variables, names, texts, numbers and comments are told apart", () => {
  const found = coloured('SELECT ?moon { ?moon a ex:Moon ; ex:size 12.5 . # big\n "a # b"@en }');
  for (const one of ["SELECT keyword", "?moon variableName", "a keyword", "12.5 number"]) {
    assert.ok(found.includes(one), `${one} in ${found.join(" | ")}`);
  }
  assert.ok(found.includes("# big comment"));
  assert.ok(found.includes('"a # b" string'));
});

test("a query that is only shown has the same tokens, line by line", () => {
  const [head, body] = tokenLines("SELECT ?moon\n{ ?moon a ex:Moon }");
  assert.deepEqual(head, [
    { kind: "keyword", text: "SELECT" },
    { kind: null, text: " " },
    { kind: "variable", text: "?moon" },
  ]);
  assert.equal(body?.map(({ text }) => text).join(""), "{ ?moon a ex:Moon }");
});

test("a text in several lines ends at its quotes, and an unfinished query is coloured all the same", () => {
  const found = coloured('ASK { ?x ex:says """one\ntwo "quoted"\nthree""" ; ex:n 1');
  assert.ok(found.includes('two "quoted" string'), found.join(" | "));
  assert.ok(found.includes("1 number"));
});

test("the terms that a question means are found in its query, not in comments", () => {
  const marks = new Map([
    ["http://e.org/Io", 1],
    ["http://e.org/size", 2],
    ["1970-12-31", 3],
    ["12.5", 4],
  ]);
  const query =
    'PREFIX ex: <http://e.org/>\nASK {\n  ex:Io ex:size 12.5 . # ex:Io\n  <http://e.org/Io> ?p "1970-12-31" }';
  assert.deepEqual(
    findMarks(query, marks).map(({ from, to, mark }) => `${query.slice(from, to)} ${mark}`),
    ["ex:Io 1", "ex:size 2", "12.5 4", "<http://e.org/Io> 1", '"1970-12-31" 3'],
  );
});

test("an IRI becomes the shortest name that SPARQL allows", () => {
  assert.equal(compact("http://e.org/ontology#Moon", VOCABULARY.prefixes), "ont:Moon");
  assert.equal(compact("http://e.org/Io", VOCABULARY.prefixes), "ex:Io");
  assert.equal(compact("http://e.org/a/b", VOCABULARY.prefixes), "<http://e.org/a/b>");
  assert.equal(compact("http://other.org/x", VOCABULARY.prefixes), "<http://other.org/x>");
});

test("names are found by their label as well as by their end, variables in the query", () => {
  const offered = (typed: string, query: string, known: VocabularyView | null) =>
    options(typed, query, known).map((one) => one.label);
  assert.deepEqual(offered("satell", "", VOCABULARY), ["ont:orbits"]);
  assert.deepEqual(offered("ont:mo", "", VOCABULARY), ["ont:Moon"]);
  assert.deepEqual(offered("?p", "SELECT ?planet { ?planet a ?p }", null), ["?planet"]);
  assert.ok(offered("opt", "", null).includes("OPTIONAL"), "without a vocabulary");
});

test("a finding marks what it is about, and stays within a text that is shorter by now", () => {
  const doc = Text.of(["SELECT ?x {", "  ?x ont:orbts ?y", "}"]);
  const at = (...[start, end, line, column]: (number | null)[]) =>
    spanOf(doc, { start, end, line, column } as FindingView);
  assert.deepEqual(at(17, 26, 2, 6), { from: 17, to: 26 });
  assert.deepEqual(at(null, null, 2, 6), { from: 17, to: 26 });
  assert.deepEqual(at(400, 500, 90, 90), { from: doc.length - 1, to: doc.length });
  assert.deepEqual(at(null, null, null, null), { from: 0, to: 6 });
});
