// Names complete a question where the cursor is.

import assert from "node:assert/strict";
import { test } from "node:test";
import { completed, isCompletable, merged } from "../src/ask/QuestionBox.tsx";

const jupiter = {
  text: "Jupiter",
  label: "Jupiter",
  iri: "e:J",
  kind: "entity",
  of: "",
  start: 12,
} as const;

test("a name takes the place of what was typed of it, with a space to type on", () => {
  assert.deepEqual(completed("Which moons Jup", 15, jupiter), {
    text: "Which moons Jupiter ",
    cursor: 20,
  });
});

test("no space is put before what ends the question, or where one is", () => {
  assert.equal(completed("Which moons Jup?", 15, jupiter).text, "Which moons Jupiter?");
  assert.equal(completed("Which moons Jup has", 15, jupiter).text, "Which moons Jupiter has");
});

test("a place behind the cursor does no harm", () => {
  const found = completed("Which", 5, { ...jupiter, start: 99 });
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
  const found = merged([[name("a"), name("b")], [name("a"), name("c")], []], 3);
  assert.deepEqual(
    found.map((one) => one.text),
    ["a", "b", "c"],
  );
});
