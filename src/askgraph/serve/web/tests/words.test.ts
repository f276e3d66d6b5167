// The texts of the page, and names of steps and methods, in both languages.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { sureness } from "../src/ask/AnswerPart.tsx";
import { stepTitle } from "../src/ask/stepWords.ts";
import { formatSeconds, speak, texts } from "../src/i18n/index.ts";
import { methodTitle, methodWords } from "../src/parts/methods.ts";

test("a step is one line, however long what it says", () => {
  const title = stepTitle({
    step: "thought",
    text: `${"so ".repeat(90)}\nand on`,
    usage: {
      seconds: 0,
      requests: 0,
      llm_calls: 0,
      input_tokens: 0,
      cached_tokens: 0,
      output_tokens: 0,
      money: 0,
    },
  });
  assert.ok(title.length <= 140 && title.endsWith("…") && !title.includes("\n"), title);
});

test("findings name what was found, in the page's language", () => {
  const mention = { words: "Titan", kind: "entity", target: "e:T", label: "Titan", score: 1 };
  const step = { step: "findings", mentions: [mention, mention], unused_words: [] } as const;
  speak("de");
  assert.equal(stepTitle(step), "In der Frage gefunden: Titan");
  speak("en");
  assert.equal(stepTitle(step), "Found in the question: Titan");
});

test("a method has a name for people, and one that is not known its own words", () => {
  assert.equal(methodTitle("graph-search"), "Graph search");
  assert.equal(methodTitle("sparql-llm"), "SPARQL-LLM");
  assert.equal(
    methodWords({ name: "constructor", words: "Of another package." }),
    "Of another package.",
  );
});

test("how sure an answer is, is said as on the command line", () => {
  assert.deepEqual([0.85, 0.6, 0.35, 0.1].map(sureness), ["sure", "fairly", "unsure", "guess"]);
});

test("times have the precision that a reader cares for", () => {
  assert.deepEqual([0.0001, 0.0384, 0.9999, 1.44, 75.4].map(formatSeconds), [
    "1 ms",
    "38 ms",
    "1 s",
    "1.4 s",
    "75 s",
  ]);
});

test("each text is in both languages, with the same values in it", () => {
  const found = readdirSync("src", { recursive: true, encoding: "utf8" });
  const tables = found.filter((name) => name.endsWith(".json"));
  assert.ok(tables.length > 5);
  for (const name of tables) {
    for (const [key, both] of Object.entries(JSON.parse(readFileSync(`src/${name}`, "utf8")))) {
      const [en, de, ...rest] = (both as unknown[]).map(shapeOf);
      assert.ok(en && rest.length === 0, `${name}: ${key}`);
      assert.deepEqual(de, en, `${name}: ${key}`);
    }
  }
});

test("values stand in their places, and a text may have a form for one, two or none", () => {
  const say = texts({ rows: [{ one: "1 row", other: "{n} of {all}" }, { other: "{all}: {n}" }] });
  assert.deepEqual([say.rows(1, 2), say.rows(1200, "all")], ["1 row", "1,200 of all"]);
  speak("de");
  assert.equal(say.rows(1, 2), "2: 1");
  speak("en");
});

/** What two languages of a text must have in common: its kind, its length, its places. */
function shapeOf(text: unknown): unknown {
  if (typeof text === "string") return "text";
  if (Array.isArray(text)) return text.length;
  const forms = Object.entries(text as Record<string, string>);
  return forms.map(([form, words]) => [form, ...(words.match(/\{\w+\}/g) ?? []).sort()]);
}
