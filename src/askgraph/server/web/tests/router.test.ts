// Addresses name parts of the page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { askAddress, routeOf } from "../src/app/router.ts";

test("each path leads to its page", () => {
  const routes = {
    "/": ["ask", ""],
    "/run/abc": ["ask", "abc"],
    "/graphs": ["graphs", ""],
    "/graphs/": ["graphs", ""],
    "/graphs/my%20graph": ["graphs", "my graph"],
    "/boards": ["boards", ""],
    "/boards/abc": ["boards", "abc"],
    "/compare": ["compare", ""],
  };
  for (const [path, [page, id]] of Object.entries(routes))
    assert.deepEqual(routeOf(path), { page, id }, path);
});

test("a path that leads nowhere is said to be missing, also a damaged one", () => {
  for (const path of ["/nothing", "/run", "/run/a/b", "/add/x", "/api/v1", "/%E0%A4%A"]) {
    assert.equal(routeOf(path).page, "missing", path);
  }
});

test("an address that asks keeps every character of the question", () => {
  const question = "Wie groß ist Ägypten & co? #1 +2";
  const query = new URLSearchParams(askAddress(question, ["a", "b"]).slice(2));
  assert.equal(query.get("q"), question);
  assert.deepEqual(query.getAll("graph"), ["a", "b"]);
});
