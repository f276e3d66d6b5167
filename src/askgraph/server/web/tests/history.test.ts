// The history is told by days.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunSummary } from "../src/api/types.ts";
import { byDay, daysAgo } from "../src/history/HistoryPage.tsx";
import { firstOfEach } from "../src/history/SideList.tsx";

function run(id: string, created: string, question = id): RunSummary {
  return {
    id,
    session: "s",
    question,
    graphs: [],
    method: "graph-search",
    state: "done",
    status: "answer",
    created,
    seconds: 1,
    changes: null,
  };
}

test("runs of one day stand together, in their order", () => {
  const days = byDay([
    run("c", "2026-11-22T12:00:00"),
    run("b", "2026-11-22T09:00:00"),
    run("a", "2026-11-20T12:00:00"),
  ]);
  assert.deepEqual(
    days.map(([day, runs]) => [day, ...runs.map((one) => one.id)]),
    [
      ["2026-11-22", "c", "b"],
      ["2026-11-20", "a"],
    ],
  );
});

test("days are counted over the end of a month, and of summer time", () => {
  assert.equal(daysAgo("2026-10-31", new Date(2026, 10, 1, 0, 5)), 1);
  assert.equal(daysAgo("2026-10-24", new Date(2026, 9, 26, 23, 50)), 2);
  assert.equal(daysAgo("2026-11-22", new Date(2026, 10, 22, 23, 59)), 0);
});

test("a question asked often is listed once, as it was asked last", () => {
  const found = firstOfEach([
    run("new", "2026-11-22T12:00:00", "How big is Io?"),
    run("old", "2026-11-21T12:00:00", "How big is Io?"),
  ]);
  assert.deepEqual(
    found.map((one) => one.id),
    ["new"],
  );
});
