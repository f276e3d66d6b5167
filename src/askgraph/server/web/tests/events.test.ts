// Events are read from a stream of text however it is cut.

import assert from "node:assert/strict";
import { test } from "node:test";
import { EventParser } from "../src/api/events.ts";

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
