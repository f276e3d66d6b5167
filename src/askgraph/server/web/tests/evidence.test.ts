// Triples as a drawing, and places on a map.

import assert from "node:assert/strict";
import { test } from "node:test";
import { starPlaces } from "../src/results/canvas.ts";
import { drawEvidence, drawTriple, joinDrawings, parseTerm } from "../src/results/evidence.ts";
import {
  fitView,
  moveView,
  netStep,
  pixelOf,
  placeAt,
  spotOf,
  zoomView,
} from "../src/results/projection.ts";

const IO = "<http://x/Io>";
const SIZE = '"1000"^^<http://www.w3.org/2001/XMLSchema#integer>';
const TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>";

const FRAME = { width: 800, height: 400 };

test("a term of N-Triples is taken apart, also with escapes", () => {
  assert.deepEqual(parseTerm('"say \\"hi\\"\\n\\u00e4\\U0001F680"@en', {}), {
    type: "literal",
    value: 'say "hi"\nä🚀',
    language: "en",
    datatype: null,
  });
  assert.equal(parseTerm('"5"^^<http://x/int>', {}).datatype, "http://x/int");
  assert.equal(parseTerm("_:b1", {}).type, "blank");
  assert.equal(parseTerm(IO, { "http://x/Io": "Io" }).label, "Io");
  assert.equal(
    parseTerm("(<http://x/a>/<http://x/b>)+", { "http://x/a": "part of" }).value,
    "(part of/b)+",
  );
});

test("things are one node each, values one for each triple, classes told apart", () => {
  const moon = (row: number, thing: string) => ({
    row,
    words: [],
    triples: [
      [thing, TYPE, "<http://x/Moon>"],
      [thing, "<http://x/size>", SIZE],
    ] as const,
  });
  const evidence = [moon(0, IO), moon(1, "<http://x/Titan>")];
  const { nodes, edges } = drawEvidence(evidence, { "http://x/Io": "Io \u202Emoon" }, "en");
  assert.deepEqual(
    nodes.map(({ label, kind }) => `${label} ${kind}`),
    ["Io moon thing", "Moon class", "1,000 value", "Titan thing", "1,000 value"],
  );
  assert.equal(edges.length, 4);
});

test("what is in two drawings is drawn once, as the first has it", () => {
  const io = { type: "iri", value: "http://x/Io", label: "Io" } as const;
  const of = { type: "iri", value: "http://x/of" } as const;
  const jupiter = { type: "iri", value: "http://x/Jupiter" } as const;
  const one = drawTriple(io, of, jupiter, "en");
  const both = joinDrawings([
    one,
    drawTriple({ ...io, label: null }, of, { ...jupiter, value: "http://x/Sun" }, "en"),
    one,
  ]);
  assert.deepEqual(
    both.nodes.map(({ label }) => label),
    ["Io", "Jupiter", "Sun"],
  );
  assert.equal(both.edges.length, 2);
});

test("a place is found again where it was drawn", () => {
  for (const place of [
    { longitude: 11.6, latitude: 48.1 },
    { longitude: -177, latitude: -60 },
  ]) {
    const found = placeAt(spotOf(place));
    assert.ok(Math.abs(found.longitude - place.longitude) < 1e-9);
    assert.ok(Math.abs(found.latitude - place.latitude) < 1e-9);
  }
  assert.ok(Number.isFinite(spotOf({ longitude: 0, latitude: 90 }).y));
});

test("a map shows all places at first and never leaves the world", () => {
  const spots = [
    { longitude: -80, latitude: 28 },
    { longitude: 178, latitude: -39 },
  ].map(spotOf);
  const view = fitView(spots, FRAME);
  for (const spot of spots) {
    const { x, y } = pixelOf(spot, view, FRAME);
    assert.ok(x >= 0 && x <= 800 && y >= 0 && y <= 400, `${x} ${y}`);
  }
  const far = moveView(view, 1e6, 1e6, FRAME);
  assert.ok(far.x + 400 / far.world <= 1 + 1e-9 && far.y + 200 / far.world <= 1 + 1e-9);
});

test("zooming keeps the spot under the pointer, and ends", () => {
  let view = fitView([spotOf({ longitude: 10, latitude: 50 })], FRAME);
  const about = { x: view.x + 100 / view.world, y: view.y };
  const before = pixelOf(about, view, FRAME);
  view = zoomView(view, 2, about, FRAME);
  assert.ok(Math.abs(pixelOf(about, view, FRAME).x - before.x) < 1e-6);
  for (let i = 0; i < 100; i += 1) view = zoomView(view, 4, about, FRAME);
  assert.ok(Number.isFinite(view.world) && netStep(view) === 0.1);
});

test("things around one have a place of their own within the frame", () => {
  for (const count of [1, 5, 13, 40]) {
    const ids = Array.from({ length: count }, (_, at) => `thing ${at}`);
    const places = [...starPlaces(ids, 900, 400).values()];
    assert.equal(new Set(places.map(({ x, y }) => `${x.toFixed()} ${y.toFixed()}`)).size, count);
    assert.ok(places.every(({ x, y }) => Math.abs(x) < 450 && Math.abs(y) < 200));
  }
});
