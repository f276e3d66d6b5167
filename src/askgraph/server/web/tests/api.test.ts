// Addresses name parts of the page, and events are read however their stream is cut.

import assert from "node:assert/strict";
import { test } from "node:test";
import { EventParser } from "../src/api/events.ts";
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

// Events are read from a stream of text however it is cut.

const STREAM =
  'event: run\nid: 0\ndata: {"a":1}\n\n: still here\n\nevent: step\ndata: one\ndata: two\n\n';

test("events come out whole, in order, with several lines of data joined", () => {
  assert.deepEqual(new EventParser().push(STREAM), ['{"a":1}', "one\ntwo"]);
});

test("a stream cut anywhere, with any line ends, gives the same events", () => {
  const whole = new EventParser().push(STREAM);
  for (const ends of ["\n", "\r\n", "\r"]) {
    const text = STREAM.replaceAll("\n", ends);
    for (let cut = 0; cut <= text.length; cut += 1) {
      const parser = new EventParser();
      const found = [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
      const last = ends === "\r" ? parser.push("\r") : [];
      assert.deepEqual([...found, ...last], whole, `${JSON.stringify(ends)} cut at ${cut}`);
    }
  }
});

test("an event without its end is not given", () => {
  assert.deepEqual(new EventParser().push("data: half"), []);
});
