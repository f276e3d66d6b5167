// Addresses name parts of the page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { askAddress, routeOf } from "../src/app/router.ts";

test("each path leads to its page", () => {
  assert.deepEqual(routeOf("/"), { page: "ask" });
  assert.deepEqual(routeOf("/run/abc"), { page: "run", id: "abc" });
  assert.deepEqual(routeOf("/graphs"), { page: "graphs" });
  assert.deepEqual(routeOf("/graphs/"), { page: "graphs" });
  assert.deepEqual(routeOf("/graphs/my%20graph"), { page: "graph", graph: "my graph" });
  assert.deepEqual(routeOf("/boards"), { page: "boards" });
  assert.deepEqual(routeOf("/boards/abc"), { page: "board", board: "abc" });
  assert.deepEqual(routeOf("/compare"), { page: "compare" });
});

test("a path that leads nowhere is said to be missing, also a damaged one", () => {
  for (const path of ["/nothing", "/run/a/b", "/add/x", "/api/v1", "/%E0%A4%A"]) {
    assert.equal(routeOf(path).page, "missing", path);
  }
});

test("an address that asks keeps every character of the question", () => {
  const question = "Wie groß ist Ägypten & co? #1 +2";
  const query = new URLSearchParams(askAddress(question, ["a", "b"]).slice(2));
  assert.equal(query.get("q"), question);
  assert.deepEqual(query.getAll("graph"), ["a", "b"]);
});
