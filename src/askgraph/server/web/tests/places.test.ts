// Things of a result whose places are asked for.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Row } from "../src/api/types.ts";
import { columnsOf } from "../src/results/columns.ts";
import { degreesIn, pinsAt, thingsOf } from "../src/results/places.ts";
import { thing } from "./cells.ts";

test("several things are asked for, each once; one thing, texts and many are not", () => {
  const things = (rows: Row[]) => thingsOf(columnsOf(["town"], rows, []), rows);
  assert.deepEqual(things([[thing("Lima")], [thing("Bonn")], [thing("Lima")]]), [
    "http://x/Lima",
    "http://x/Bonn",
  ]);
  assert.deepEqual(things([[thing("Lima")]]), []);
  assert.deepEqual(things([[{ type: "literal", value: "Lima" }]]), []);
  assert.deepEqual(things(Array.from({ length: 5001 }, (_, at) => [thing(`t${at}`)])), []);
  assert.deepEqual(things([[thing("a b")], [thing("c>d")]]), []);
});

test("rows whose thing has a known place are pins", () => {
  const rows: Row[] = [[thing("Lima")], [thing("Nowhere")]];
  const known = new Map([["http://x/Lima", { longitude: -77, latitude: -12 }]]);
  const pins = pinsAt(known, columnsOf(["town"], rows, []), rows, "en");
  assert.deepEqual(
    pins.map(({ row, name }) => [row, name]),
    [[0, "Lima"]],
  );
});

test("latitudes and longitudes are known by the names of their predicates, in several languages", () => {
  const says = (...named: [string, string?][]) => ({
    cells: named.map(
      ([iri, name]): Row => [
        { type: "iri", value: `http://x/${iri}` },
        name === undefined ? null : { type: "literal", value: name },
      ],
    ),
  });
  const pair = (north: string, east: string) => [[`http://x/${north}`, `http://x/${east}`]];
  assert.deepEqual(degreesIn(says(["lat"], ["long"])), pair("lat", "long"));
  assert.deepEqual(
    degreesIn(says(["geo#siteLat"], ["geo#siteLng"])),
    pair("geo#siteLat", "geo#siteLng"),
  );
  for (const [north, east] of [
    ["latitude", "longitude"],
    ["Breitengrad", "Längengrad"],
    ["geografische Breite", "geografische Länge"],
    ["latitud", "longitud"],
  ] as const) {
    const found = degreesIn(says(["p1", "mass"], ["p2", north], ["p3", "label"], ["p3", east]));
    assert.deepEqual(found, pair("p2", "p3"), north);
  }
  assert.deepEqual(degreesIn(says(["Breite"], ["Länge"], ["flat"], ["belong"])), []);
  assert.deepEqual(degreesIn(says(["lat"], ["mass"])), []);
});
