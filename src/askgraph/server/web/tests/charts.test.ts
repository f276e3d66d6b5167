// Views of a result by the kinds of its columns.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Row } from "../src/api/types.ts";
import { bars, bins, chartsOf, dots, firstView, lines } from "../src/results/charts.ts";
import { columnsOf, headingOf, pinsOf, wordsOf } from "../src/results/columns.ts";
import { spotsForNames } from "../src/results/labels.ts";
import { binBounds, numberScale, timeAxis, yearBounds } from "../src/results/scales.ts";
import { pluralize } from "../src/results/words.ts";
import { number, text, thing, typed } from "./cells.ts";

const day = (value: string) => typed(value, "date");

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
  assert.deepEqual(kinds(["size", "missions"], rows), ["scatter"]);
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
    lines(chart, rows, "en", true).map(({ name, runs }) => [name, runs.flat().length]),
    [
      ["NASA", 3],
      ["ESA", 3],
    ],
  );
});

test("a count is 0 in a year without a row; another line, or one of a part, breaks there", () => {
  const drawn = (value: string, years: number[], whole = true) => {
    const rows = years.map((year) => [typed(year, "gYear"), number(5)]);
    const [chart] = chartsOf(columnsOf(["year", value], rows, []), rows, false);
    const [line] = chart ? lines(chart, rows, "en", whole) : [];
    return line?.runs.map((run) => run.map((one) => one.value));
  };
  const years = [1971, 1972, 1975];
  assert.deepEqual(drawn("number_of_mission", years), [[5, 5, 0, 0, 5]]);
  assert.deepEqual(drawn("number_of_mission", years, false), [[5, 5], [5]]);
  assert.deepEqual(drawn("average_mass", years), [[5, 5], [5]]);
  assert.deepEqual(drawn("population", [1950, 1960, 1970, 1990]), [[5, 5, 5], [5]]);
  assert.equal(drawn("number_of_ruler", [1001, 1002, 2000])?.flat().length, 3);
});

test("months without a row are empty, too; days between days are not", () => {
  const drawn = (type: string, ...times: string[]) => {
    const rows = times.map((time) => [typed(time, type), number(2)]);
    const [chart] = chartsOf(columnsOf(["month", "number_of_order"], rows, []), rows, false);
    return chart && lines(chart, rows, "en", true)[0]?.runs.flat().length;
  };
  assert.equal(drawn("gYearMonth", "2020-11", "2021-01", "2021-02"), 4);
  assert.equal(drawn("date", "2020-11-01", "2021-01-03", "2021-02-07"), 3);
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
    ["bars", "bars", "scatter"],
  );
});

test("degrees that are written as texts are places, too", () => {
  const rows = [
    [thing("Munich"), text("48.14"), text("11.57")],
    [thing("Lima"), text("-12.05"), text("-77.03")],
  ];
  const columns = columnsOf(["city", "latitude", "longitude"], rows, []);
  assert.deepEqual(
    pinsOf(columns, rows, "en").map(({ name, place }) => [name, place.longitude]),
    [
      ["Munich", 11.57],
      ["Lima", -77.03],
    ],
  );
  assert.deepEqual(chartsOf(columns, rows, false), []);
});

test("two numbers of each row suggest a scatter, named by what the rows are about", () => {
  const rows = [1, 2, 3].map((at) => [thing(`m${at}`), number(at), number(at * at)]);
  assert.deepEqual(kinds(["moon", "mass", "diameter"], rows), ["bars", "bars", "scatter"]);
  const chart = chartsOf(columnsOf(["moon", "mass", "diameter"], rows, []), rows, false).at(-1);
  assert.ok(chart?.kind === "scatter");
  assert.deepEqual(dots(chart, rows, "en").at(-1), { name: "m3", across: 3, value: 9 });
});

test("the largest bar comes first unless the order of the rows counts; rows without a number are left out", () => {
  const rows = [
    [thing("B"), number(1)],
    [thing("C"), null],
    [thing("A"), number(2)],
  ];
  const [chart] = chartsOf(columnsOf(["n", "v"], rows, []), rows, false);
  assert.ok(chart?.kind === "bars");
  const names = (ordered: boolean) => bars(chart, rows, "en", ordered).map(({ name }) => name);
  assert.deepEqual(names(false), ["A", "B"]);
  assert.deepEqual(names(true), ["B", "A"]);
});

test("a result opens with the view that says most of it at a glance", () => {
  const first = (names: string[], rows: Row[], answering: string[] = []) => {
    const columns = columnsOf(names, rows, answering);
    const charts = chartsOf(columns, rows, false);
    return firstView({ columns, charts, pins: pinsOf(columns, rows, "en"), rows });
  };
  const sized = [1, 2, 3].map((at) => [thing(`m${at}`), number(at)]);
  assert.equal(first(["moon", "diameter"], sized), "chart");
  assert.equal(first(["moon", "diameter"], sized, ["moon"]), "table");
  assert.equal(first(["moon", "diameter"], sized.slice(1)), "table");
  assert.equal(first(["moon"], [[thing("Io")], [thing("Titan")]]), "table");
  assert.equal(first(["moon"], [[thing("Io")]]), "card");
  assert.equal(first(["moon", "planet"], [[thing("Io"), thing("Jupiter")]], ["moon"]), "card");
  assert.equal(first(["name"], [[text("Io")]]), "table");
  assert.equal(first(["town", "lat", "long"], [[thing("Lima"), number(-12), number(-77)]]), "map");
});

test("names stand beside their points, and never over another name or point", () => {
  const at = (x: number, y: number, name: string) => ({ x, y, name, wide: 40 });
  const frame = { width: 200, height: 100, line: { ascent: 12, descent: 4 } };
  const [right, left] = spotsForNames([at(20, 50, "a"), at(190, 50, "b")], frame);
  assert.equal(right?.anchor, "start");
  assert.equal(left?.anchor, "end");
  const crowd = Array.from({ length: 30 }, (_, number) => at(100, 50, `n${number}`));
  assert.ok(spotsForNames(crowd, frame).filter(Boolean).length <= 4);
  assert.deepEqual(spotsForNames([at(-5, 50, "outside")], frame), [null]);
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
  const counted = { "https://e.org/berths": "number of berths" };
  assert.equal(headingOf("number_of_berths", counted), "number of berths");
  assert.equal(headingOf("launch_date", labels), "launch date");
});

test("the plural of a noun", () => {
  const nouns = ["moon", "country", "launch", "day", "series", "Monde"];
  assert.deepEqual(nouns.map(pluralize), [
    "moons",
    "countries",
    "launches",
    "days",
    "series",
    "Monde",
  ]);
});
