// The drawing of classes: nothing over anything else, at every size.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Box, boxOf, layOut } from "../src/browse/layout.ts";

const boxes = (count: number): Box[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `c${at}`,
    name: `class ${at}`,
    label: `class ${at}`,
    count: String(100 - at),
    radius: 28 - at,
    wide: 60 + 5 * at,
    below: 34,
  }));
const link = (from: number, to: number) => ({
  source: `c${from}`,
  target: `c${to}`,
  name: "leads to",
  label: "leads to",
  wide: 60,
  high: 16,
});

for (const [width, height, count] of [
  [960, 480, 12],
  [358, 520, 8],
] as const) {
  test(`${count} classes have their own places on ${width} × ${height}`, () => {
    const links = Array.from({ length: 16 }, (_, at) => link(at % count, (at * 5 + 1) % count));
    const [nodes, edges] = layOut(boxes(count), links, width, height);
    assert.equal(edges.length, 16);
    assert.deepEqual(layOut(boxes(count), links, width, height), [nodes, edges]);
    const areas = nodes.map(boxOf);
    for (const [at, one] of areas.entries()) {
      assert.ok(one.left >= 0 && one.right <= width && one.top >= 0 && one.bottom <= height);
      for (const other of areas.slice(0, at)) {
        const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        assert.ok(across <= 0.5 || down <= 0.5, `${at} is covered`);
      }
    }
    const names = edges.flatMap(({ at }) => (at ? [at] : []));
    assert.ok(edges[0]?.at && names.length > 3, "the names of the first links have room");
    for (const { x, y } of names)
      assert.ok(
        !areas.some((one) => x > one.left && x < one.right && y > one.top && y < one.bottom),
      );
  });
}

test("a class is linked to itself by a loop, and to a class that is not drawn by nothing", () => {
  const [, edges] = layOut(boxes(2), [link(0, 0), link(0, 7)], 600, 400);
  assert.deepEqual(
    edges.map(({ source, target }) => [source, target]),
    [["c0", "c0"]],
  );
  assert.match(edges[0]?.path ?? "", /^M[\d.]+ [\d.]+Q/);
});
