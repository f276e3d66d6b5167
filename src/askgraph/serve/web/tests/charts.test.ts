// Views of a result by the kinds of its columns.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cell, Row } from "../src/api/types.ts";
import { bars, bins, chartsOf, lines } from "../src/results/charts.ts";
import { columnsOf, headingOf, pinsOf, wordsOf } from "../src/results/columns.ts";
import { binBounds, numberScale, timeAxis, yearBounds } from "../src/results/scales.ts";
import { several } from "../src/results/words.ts";

const XSD = "http://www.w3.org/2001/XMLSchema#";
const thing = (name: string): Cell => ({ type: "iri", value: `http://x/${name}`, label: name });
const number = (value: number): Cell => ({
  type: "literal",
  value: String(value),
  datatype: `${XSD}integer`,
});
const day = (value: string): Cell => ({ type: "literal", value, datatype: `${XSD}date` });
const text = (value: string): Cell => ({ type: "literal", value });

function kinds(names: string[], rows: Row[], ordered = false): string[] {
  return chartsOf(columnsOf(names, rows, []), rows, ordered).map(({ kind }) => kind);
}

test("names with a number suggest bars", () => {
  const rows = [
    [thing("Io"), number(3643)],
    [thing("Titan"), number(5150)],
  ];
  assert.deepEqual(kinds(["moon", "diameter"], rows), ["bars"]);
});

test("a single value, mere names and mere texts suggest nothing", () => {
  assert.deepEqual(kinds(["diameter"], [[number(3643)]]), []);
  assert.deepEqual(kinds(["moon"], [[thing("Io")], [thing("Titan")]]), []);
  assert.deepEqual(kinds(["moon", "diameter"], [[thing("Io"), number(3643)]]), []);
  assert.deepEqual(
    kinds(
      ["a", "b"],
      [
        [text("x"), text("y")],
        [text("z"), text("w")],
      ],
    ),
    [],
  );
  assert.deepEqual(kinds([], []), []);
});

test("dates with a number suggest a line; names beside them bars, too, first where order counts", () => {
  const rows = ["1958-01-31", "1969-07-16", "1990-04-24", "2021-12-25"].map((date, at) => [
    thing(`m${at}`),
    day(date),
    number(at * 10),
  ]);
  assert.deepEqual(kinds(["mission", "launch", "mass"], rows), ["line", "bars"]);
  assert.deepEqual(kinds(["mission", "launch", "mass"], rows, true), ["bars", "line"]);
});

test("whole numbers in a column of years are years, not numbers", () => {
  const rows = [1990, 1991, 1992].map((year) => [number(year), number(year * 2)]);
  assert.deepEqual(kinds(["year", "missions"], rows), ["line"]);
  assert.deepEqual(kinds(["size", "missions"], rows), []);
});

test("many values of one column suggest how they are spread", () => {
  const rows = Array.from({ length: 20 }, (_, at) => [number(at * at)]);
  assert.deepEqual(kinds(["height"], rows), ["histogram"]);
  assert.deepEqual(kinds(["height"], rows.slice(0, 5)), []);
  assert.deepEqual(
    kinds(
      ["height"],
      Array.from({ length: 20 }, () => [number(7)]),
    ),
    [],
  );
});

test("a few names that come again and again are lines of their own", () => {
  const rows = ["NASA", "ESA"].flatMap((agency) =>
    [2000, 2001, 2002].map((year) => [thing(agency), number(year), number(year % 7)]),
  );
  const columns = columnsOf(["agency", "year", "missions"], rows, []);
  const [chart] = chartsOf(columns, rows, false);
  assert.ok(chart?.kind === "line");
  assert.deepEqual(
    lines(chart, rows, "en").map(({ name, points }) => [name, points.length]),
    [
      ["NASA", 3],
      ["ESA", 3],
    ],
  );
});

test("latitude and longitude are a place, and no numbers to draw bars of", () => {
  const rows = [
    [thing("Munich"), number(48), number(11)],
    [thing("Lima"), number(-12), number(-77)],
  ];
  const names = ["city", "geoLat", "geoLong"];
  assert.deepEqual(kinds(names, rows), []);
  const pins = pinsOf(columnsOf(names, rows, []), rows, "en");
  assert.deepEqual(
    pins.map(({ name, place }) => [name, place.latitude]),
    [
      ["Munich", 48],
      ["Lima", -12],
    ],
  );
  assert.deepEqual(pinsOf(columnsOf(["city", "lat", "height"], rows, []), rows, "en"), []);
  assert.deepEqual(
    kinds(["city", "lat", "long"], [...rows, [thing("X"), number(400), number(1)]]),
    ["bars", "bars"],
  );
});

test("bars keep the order of the rows and leave out rows without a number", () => {
  const rows = [
    [thing("B"), number(1)],
    [thing("C"), null],
    [thing("A"), number(2)],
  ];
  const [chart] = chartsOf(columnsOf(["n", "v"], rows, []), rows, false);
  assert.ok(chart?.kind === "bars");
  assert.deepEqual(
    bars(chart, rows, "en").map(({ name, row }) => [name, row]),
    [
      ["B", 0],
      ["A", 2],
    ],
  );
});

test("an axis has round marks around all values, and zero where it is near", () => {
  const scale = numberScale([4879, 139_820], 8);
  assert.deepEqual(scale.ticks(8).slice(0, 3), [0, 20_000, 40_000]);
  assert.ok(scale(139_820) <= 1);
  assert.equal(numberScale([1000, 1001], 5)(1000), 0);
  assert.deepEqual(numberScale([0.1, 0.3], 4).ticks(4), [0, 0.1, 0.2, 0.3]);
  for (const values of [[0], [5, 5], [-3], [1e-9, 2e-9], [-1e30, 1e30]]) {
    const at = numberScale(values, 5);
    const ticks = at.ticks(5);
    assert.ok(ticks.length >= 2 && ticks.length < 20, `${values}: ${ticks}`);
    assert.ok(
      values.every((value) => at(value) >= 0 && at(value) <= 1),
      `${values}`,
    );
  }
});

test("an axis of time has marks where years, months or days begin", () => {
  const years = timeAxis([Date.UTC(1957, 9, 4), Date.UTC(2021, 11, 25)], 7);
  assert.equal(years.precision, "year");
  assert.ok(years.ticks.every((tick) => new Date(tick).getUTCFullYear() % 10 === 0));
  assert.equal(timeAxis([Date.UTC(2021, 0, 10), Date.UTC(2021, 11, 25)], 7).precision, "month");
  const days = timeAxis([Date.UTC(2021, 0, 10), Date.UTC(2021, 0, 20)], 7);
  assert.equal(days.precision, "day");
  assert.ok(days.ticks.length >= 4 && days.ticks.length <= 8);
  assert.ok(Number.isFinite(timeAxis([0], 5).scale(0)));
});

test("every value is counted in exactly one class", () => {
  const values = [0, 1, 2, 2.5, 9.99, 10, 10];
  const counted = bins(values, binBounds(values)).reduce((sum, { count }) => sum + count, 0);
  assert.equal(counted, values.length);
  const times = [Date.UTC(1957, 0, 1), Date.UTC(1999, 11, 31), Date.UTC(2000, 5, 5)];
  assert.equal(
    bins(times, yearBounds(times)).reduce((sum, { count }) => sum + count, 0),
    3,
  );
});

test("variables are read as words", () => {
  assert.equal(wordsOf("dwarfPlanet"), "dwarf planet");
  assert.equal(wordsOf("launch_date"), "launch date");
  assert.equal(wordsOf("missionID"), "mission ID");
});

test("a column is headed by the graph's name for what it holds", () => {
  const labels = {
    "https://e.org/ontology#SpaceAgency": "Raumfahrtagentur",
    "https://e.org/ontology#Mission": "mission",
  };
  assert.equal(headingOf("space_agency", labels), "Raumfahrtagentur");
  assert.equal(headingOf("number_of_mission", labels), "number of missions");
  assert.equal(headingOf("launch_date", labels), "launch date");
});

test("the plural of a noun", () => {
  const nouns = ["moon", "country", "launch", "day", "series", "Monde"];
  assert.deepEqual(nouns.map(several), [
    "moons",
    "countries",
    "launches",
    "days",
    "series",
    "Monde",
  ]);
});
