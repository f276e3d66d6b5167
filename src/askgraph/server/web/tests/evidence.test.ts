// Triples as a drawing, and places on a map.

import assert from "node:assert/strict";
import { test } from "node:test";
import { drawEvidence, drawTriple, joinDrawings, parseTerm } from "../src/results/evidence.ts";
import { bendsOf, lineBetween, placeNodes, UNIT } from "../src/results/forces.ts";
import {
  fitView,
  moveView,
  netStep,
  pixelOf,
  placeAt,
  type Spot,
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

test("things of a drawing do not overlap, and keep their places when others come", () => {
  const thing = (id: string) => ({ id, label: id, iri: id, kind: "thing" as const });
  const edge = (source: string, target: string) => {
    return { id: `${source} ${target}`, source, target, label: "is near", iri: "near" };
  };
  const tree = (count: number) => {
    const ids = Array.from({ length: count }, (_, at) => `thing ${at}`);
    const edges = ids.slice(1).map((id, at) => edge(`thing ${Math.floor(at / 8)}`, id));
    return { nodes: ids.map(thing), edges };
  };
  for (const count of [1, 5, 40, 600]) {
    const places = placeNodes(tree(count), new Map(), () => 80);
    const spots = [...places.values()].map(({ x, y }) => ({ x: x * UNIT, y: y * UNIT }));
    const overlaps = spots.filter((one, at) =>
      spots
        .slice(0, at)
        .some((other) => Math.abs(one.x - other.x) < 60 && Math.abs(one.y - other.y) < 20),
    );
    assert.equal(spots.length, count);
    assert.ok(overlaps.length <= count / 50, `${overlaps.length} of ${count}`);
    const more = placeNodes(tree(count + 5), places, () => 80);
    for (const [id, spot] of places) assert.deepEqual(more.get(id), spot);
  }
});

test("several lines between two things, and one from a thing to itself, are apart", () => {
  const edges = ["a b", "b a", "a b 2", "c c"].map((id) => {
    const [source = "", target = ""] = id.split(" ");
    return { id, source, target, label: id, iri: id };
  });
  const spots: Record<string, Spot> = { a: { x: 0, y: 0 }, b: { x: 100, y: 0 }, c: { x: 9, y: 9 } };
  const bends = bendsOf({ nodes: [], edges });
  const lines = edges.map(({ source, target }, at) =>
    lineBetween(spots[source] as Spot, spots[target] as Spot, bends[at] ?? 0),
  );
  assert.equal(new Set(lines.map(({ middle }) => middle.y)).size, 4);
  assert.deepEqual(lines[0]?.middle, { x: 50, y: 0 });
});
