// Questions while they are typed, asked, and listed afterwards.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunSummary, RunView } from "../src/api/types.ts";
import { Turn } from "../src/ask/conversation.ts";
import { completeQuestion, isCompletable, mergeCompletions } from "../src/ask/QuestionBox.tsx";
import { byDay, daysAgo } from "../src/history/HistoryPage.tsx";
import { firstOfEach } from "../src/history/SideList.tsx";
import { orderWords, toggleWord, wordsOf } from "../src/teach/question.ts";

const jupiter = {
  text: "Jupiter",
  label: "Jupiter",
  iri: "e:J",
  kind: "entity",
  of: "",
  start: 12,
} as const;

test("a name takes the place of what was typed of it, with a space to type on", () => {
  assert.deepEqual(completeQuestion("Which moons Jup", 15, jupiter), {
    text: "Which moons Jupiter ",
    cursor: 20,
  });
});

test("no space is put before what ends the question, or where one is", () => {
  assert.equal(completeQuestion("Which moons Jup?", 15, jupiter).text, "Which moons Jupiter?");
  assert.equal(
    completeQuestion("Which moons Jup has", 15, jupiter).text,
    "Which moons Jupiter has",
  );
});

test("a place behind the cursor does no harm", () => {
  const found = completeQuestion("Which", 5, { ...jupiter, start: 99 });
  assert.equal(found.text, "WhichJupiter ");
});

test("a graph is asked from the third character of a word on, in any script", () => {
  for (const text of ["Which moons Jup", "Große Äpf", "какая лун", "Apollo 11", "O'Hara"]) {
    assert.ok(isCompletable(text), text);
  }
  for (const text of ["", "Wh", "Which ", "Which moons? "]) assert.ok(!isCompletable(text), text);
});

test("names of several graphs come in turn, each once", () => {
  const name = (text: string) => ({ ...jupiter, text, iri: `e:${text}` });
  const found = mergeCompletions([[name("a"), name("b")], [name("a"), name("c")], []], 3);
  assert.deepEqual(
    found.map((one) => one.text),
    ["a", "b", "c"],
  );
});

// The words of a question, of which one is taught.

const QUESTION = "Which of Earth's haulers, or the haulers' X-15, weigh 1000 kg?";

test("the words of a question come once each, without its marks", () => {
  const words = ["Which", "of", "Earth's", "haulers", "or", "the", "X-15", "weigh", "1000", "kg"];
  assert.deepEqual(wordsOf(QUESTION), words);
  assert.deepEqual(wordsOf("¿Qué aviones?"), ["Qué", "aviones"]);
  assert.deepEqual(wordsOf("?!"), []);
});

test("words that were not understood go before the others", () => {
  const words = orderWords(QUESTION, ["KG", "haulers weigh"]);
  assert.deepEqual(words.slice(0, 4), ["haulers", "weigh", "kg", "Which"]);
  assert.equal(words.length, 10);
});

test("a phrase grows and shrinks by words, in the order of the question", () => {
  assert.equal(toggleWord(QUESTION, "weigh", "haulers"), "haulers weigh");
  assert.equal(toggleWord(QUESTION, "haulers weigh", "haulers"), "weigh");
  assert.equal(toggleWord(QUESTION, "", "X-15"), "X-15");
});

// A question's state follows what the server tells of it.

const RUN = { id: "r1", session: "s1", question: "How big is Titan?", state: "done" } as RunView;
const problem = { type: "x", title: "A service failed", status: 502, detail: "It is down" };

function begun(): Turn {
  const turn = new Turn(RUN.question, ["space"], null);
  const asked = { question: RUN.question, graphs: ["space"], method: "graph-search" };
  turn.take({ event: "run", seq: 0, id: "r1", session: "s1", ...asked });
  return turn;
}

test("it waits, works, and is done", () => {
  const turn = begun();
  turn.take({ event: "queued", seq: 1, id: "r1", ahead: 3 });
  assert.deepEqual([turn.state.value, turn.ahead.value], ["queued", 3]);
  const step = { step: "draft", query: "q", score: 1, words: "" } as const;
  turn.take({ event: "step", seq: 2, id: "r1", step });
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

// The history is told by days.

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
