// The words of a question, of which one is taught.

import assert from "node:assert/strict";
import { test } from "node:test";
import { byUnderstanding, toggled, wordsOf } from "../src/teach/question.ts";

const QUESTION = "Which of Earth's haulers, or the haulers' X-15, weigh 1000 kg?";

test("the words of a question come once each, without its marks", () => {
  const words = ["Which", "of", "Earth's", "haulers", "or", "the", "X-15", "weigh", "1000", "kg"];
  assert.deepEqual(wordsOf(QUESTION), words);
  assert.deepEqual(wordsOf("¿Qué aviones?"), ["Qué", "aviones"]);
  assert.deepEqual(wordsOf("?!"), []);
});

test("words that were not understood go before the others", () => {
  const words = byUnderstanding(QUESTION, ["KG", "haulers weigh"]);
  assert.deepEqual(words.slice(0, 4), ["haulers", "weigh", "kg", "Which"]);
  assert.equal(words.length, 10);
});

test("a phrase grows and shrinks by words, in the order of the question", () => {
  assert.equal(toggled(QUESTION, "weigh", "haulers"), "haulers weigh");
  assert.equal(toggled(QUESTION, "haulers weigh", "haulers"), "weigh");
  assert.equal(toggled(QUESTION, "", "X-15"), "X-15");
});
