// Files that are to become a graph, and terms of a graph in a list.

import assert from "node:assert/strict";
import { test } from "node:test";
import { formatOf, formatSize, isName, judgeFiles, suggestName } from "../src/add/files.ts";
import { listed, rankHits } from "../src/browse/TermList.tsx";

const file = (name: string, size = 10) => new File(["x".repeat(size)], name);

test("a file's format is what its name ends in, compressed or not", () => {
  assert.equal(formatOf("space.ttl"), "Turtle");
  assert.equal(formatOf("a.b.NT.GZ"), "N-Triples");
  assert.equal(formatOf("wiki.rdf.bz2"), "RDF/XML");
  assert.deepEqual(["a.n3", "a.csv.gz", "a.zip"].map(formatOf), ["N3", "CSV", "ZIP"]);
  for (const name of ["ttl", "graph.gz", "notes.txt", ""]) assert.equal(formatOf(name), null, name);
});

test("each file is told what is wrong with it", () => {
  const files = [file("a.ttl"), file("b.txt"), file("c.nt", 0), file("a.ttl"), file("d.ttl", 90)];
  assert.deepEqual(
    judgeFiles(files, 100).map(({ fault }) => fault),
    [null, "unknown", "empty", "twice", "large"],
  );
});

test("a name is suggested that the server takes", () => {
  for (const from of [
    "Größe & Maß.ttl.gz",
    "https://query.wikidata.org/sparql",
    "--a--.nt",
    "x".repeat(99),
  ]) {
    assert.ok(isName(suggestName(from)), `${from}: ${suggestName(from)}`);
  }
  assert.equal(suggestName("https://query.wikidata.org/sparql"), "wikidata-org");
  assert.equal(suggestName(""), "");
});

test("a name is small letters, digits and hyphens", () => {
  for (const name of ["a", "0-9", "my-graph-2"]) assert.ok(isName(name), name);
  for (const name of ["", "-a", "A", "a b", "../x", "a".repeat(41)]) assert.ok(!isName(name), name);
});

test("terms are found by label or IRI and listed by name or by count", () => {
  const term = (label: string, count: number) => ({
    iri: `http://x/${label}`,
    label,
    count,
    examples: [],
    example: null,
  });
  const terms = [term("moon", 5), term("Äther", 0), term("planet", 8), term("asteroid", 8)];
  const names = (filter: string, order: "name" | "count") =>
    listed(terms, filter, order, "en").map(({ label }) => label);
  assert.deepEqual(names("", "count"), ["asteroid", "planet", "moon", "Äther"]);
  assert.deepEqual(names("", "name"), ["asteroid", "Äther", "moon", "planet"]);
  assert.deepEqual(names("ather", "name"), ["Äther"]);
  assert.deepEqual(names("/moon", "name"), ["moon"]);
});

test("of names that match alike the shortest comes first", () => {
  const hit = (label: string, score: number) =>
    ({
      iri: `http://x/${label}`,
      name: label,
      label,
      description: "",
      kind: "entity",
      score,
    }) as const;
  const found = rankHits([hit("Titan II", 1), hit("Titan", 1), hit("Titania", 0.7)]);
  assert.deepEqual(
    found.map(({ label }) => label),
    ["Titan", "Titan II", "Titania"],
  );
});

test("a size is written in words of the language, in the plural where it is one", () => {
  const sizes = (locale: string) =>
    [1, 70, 7_400_000].map((size) => formatSize(size, locale).replace(/\s/g, " "));
  assert.deepEqual(sizes("en"), ["1 byte", "70 bytes", "7.4 MB"]);
  assert.deepEqual(sizes("de"), ["1 Byte", "70 Byte", "7,4 MB"]);
  assert.deepEqual(sizes("fr"), ["1 octet", "70 octets", "7,4 Mo"]);
  assert.deepEqual(sizes("es"), ["1 byte", "70 bytes", "7,4 MB"]);
});
