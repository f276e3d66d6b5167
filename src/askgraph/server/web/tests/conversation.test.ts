// A question's state follows what the server tells of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunView } from "../src/api/types.ts";
import { Turn } from "../src/ask/conversation.ts";

const RUN: RunView = {
  id: "r1",
  session: "s1",
  question: "How big is Titan?",
  language: null,
  graphs: ["space"],
  method: "graph-search",
  model: null,
  state: "done",
  created: "2026-11-22T12:00:00+00:00",
  seconds: 0.1,
  before: [],
  answer: null,
  problem: null,
  feedback: null,
  changes: null,
  verified: false,
  shared: false,
  mine: true,
};
const problem = { type: "x", title: "A service failed", status: 502, detail: "It is down" };

function begun(): Turn {
  const turn = new Turn(RUN.question, ["space"], null);
  turn.take({
    event: "run",
    seq: 0,
    id: "r1",
    session: "s1",
    question: RUN.question,
    graphs: ["space"],
    method: "graph-search",
  });
  return turn;
}

test("it waits, works, and is done", () => {
  const turn = begun();
  turn.take({ event: "queued", seq: 1, id: "r1", ahead: 3 });
  assert.deepEqual([turn.state.value, turn.ahead.value], ["queued", 3]);
  turn.take({
    event: "step",
    seq: 2,
    id: "r1",
    step: { step: "draft", query: "q", score: 1, words: "" },
  });
  assert.deepEqual(
    [turn.state.value, turn.steps.value.length, turn.isRunning],
    ["running", 1, true],
  );
  turn.take({ event: "outcome", seq: 3, id: "r1", run: RUN });
  assert.deepEqual([turn.state.value, turn.run.value, turn.isRunning], ["done", RUN, false]);
});

test("a problem, and that it was stopped, end it", () => {
  const failed = begun();
  failed.take({ event: "problem", seq: 1, id: "r1", problem });
  assert.deepEqual([failed.state.value, failed.problem.value], ["failed", problem]);
  const stopped = begun();
  stopped.take({ event: "cancelled", seq: 1, id: "r1" });
  assert.equal(stopped.state.value, "stopped");
});

test("a run found in each state is shown as what it is", () => {
  const states = (["queued", "running", "failed", "cancelled", "handed_back"] as const).map(
    (state) => {
      const turn = new Turn("", [], null);
      turn.settle({ ...RUN, state });
      return turn.state.value;
    },
  );
  assert.deepEqual(states, ["running", "running", "failed", "stopped", "stopped"]);
});
