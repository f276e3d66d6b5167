// The texts of the page, and names of steps and methods, in all languages.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { Step } from "../src/api/types.ts";
import { sureness } from "../src/ask/AnswerPart.tsx";
import { stepTitle } from "../src/ask/Steps.tsx";
import asking from "../src/ask/words.json";
import { formatSeconds, LANGUAGES, learned, texts } from "../src/i18n/index.ts";
import { speak } from "../src/i18n/languages.ts";
import { methodTitle, methodWords } from "../src/parts/methods.ts";

test("a step is one line, however long what it says", () => {
  const title = stepTitle({ step: "thought", text: `${"so ".repeat(90)}\nand on` } as Step);
  assert.ok(title.length <= 140 && title.endsWith("…") && !title.includes("\n"), title);
});

test("findings name what was found, in the page's language", async () => {
  const mention = { words: "Titan", kind: "entity", target: "e:T", label: "Titan", score: 1 };
  const step = { step: "findings", mentions: [mention, mention], unused_words: [] } as const;
  await speak("de");
  assert.equal(stepTitle(step), "In der Frage gefunden: Titan");
  await speak("en");
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

type Table = Readonly<Record<string, unknown>>;

const read = (path: string) => JSON.parse(readFileSync(`src/${path}`, "utf8"));
const loaded: Readonly<Record<string, Readonly<Record<string, Table>>>> = {
  fr: read("i18n/fr.json"),
  es: read("i18n/es.json"),
};
const tables = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".json") && !name.startsWith("i18n"))
  .map((name): [string, Readonly<Record<string, readonly unknown[]>>] => [
    name.replace(".json", ""),
    read(name),
  ]);

test("each text is in all languages, with the same values in it", () => {
  assert.ok(tables.length > 5);
  for (const [name, table] of tables) {
    for (const [key, [en, de, ...more]] of Object.entries(table)) {
      const text = `${name}.json: ${key}`;
      assert.ok(en && de && more.length === 0, `${text} is not a pair of English and German`);
      assert.deepEqual(
        shapeOf(de),
        shapeOf(en),
        `${text} in German has not the form of the English`,
      );
      for (const [tag, own] of Object.entries(loaded)) {
        const place = `src/i18n/${tag}.json: "${name}": "${key}"`;
        assert.ok(own[name]?.[key], `${place} lacks: add the ${tag} for ${JSON.stringify(en)}`);
        assert.deepEqual(shapeOf(own[name]?.[key]), shapeOf(en), `${place} has not its form`);
      }
    }
  }
});

test("no language has a text that the page does not have", () => {
  const known = new Set(tables.flatMap(([name, rows]) => keysOf(name, rows)));
  for (const own of Object.values(loaded)) {
    const given = Object.entries(own).flatMap(([name, rows]) => keysOf(name, rows));
    assert.deepEqual(
      given.filter((key) => !known.has(key)),
      [],
    );
  }
});

test("French has its spaces before signs, each language its own quotes and apostrophes", () => {
  const said = (own: unknown) => JSON.stringify(own).replaceAll('\\"', "");
  assert.doesNotMatch(said(loaded["fr"]), /[\p{L}\d}] ?[;!?](?!\w)|[\p{L}}] ?:|« |[“”„']/u);
  assert.doesNotMatch(said(loaded["es"]), /« | »|[“”„']/u);
  const german = tables.map(([, table]) => Object.values(table).map(([, de]) => de));
  assert.doesNotMatch(said(german), /[«»”']/);
});

test("the page speaks what was chosen, with the plurals of that language", async () => {
  const say = texts("ask/words", asking);
  const spoken: string[][] = [];
  for (const tag of Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[]) {
    await speak(tag);
    spoken.push([0, 1, 2, 12345].map((count) => say.rows(count)));
  }
  await speak("en");
  assert.deepEqual(spoken, [
    ["0 rows", "1 row", "2 rows", "12,345 rows"],
    ["0 Zeilen", "1 Zeile", "2 Zeilen", "12.345 Zeilen"],
    ["0 ligne", "1 ligne", "2 lignes", "12\u202f345 lignes"],
    ["0 filas", "1 fila", "2 filas", "12.345 filas"],
  ]);
});

test("values stand in their places, a text may have other forms, and one that lacks is English", async () => {
  const say = texts("own", {
    rows: [{ one: "1 row", other: "{n} of {all}" }],
    both: [{ two: "Both", other: "All {n}" }],
  });
  assert.deepEqual([say.rows(1, 2), say.rows(1200, "all")], ["1 row", "1,200 of all"]);
  assert.deepEqual([say.both(2), say.both(3)], ["Both", "All 3"]);
  await speak("de");
  learned.de = { ...learned.de, own: [{ one: "1 row", other: "{all}: {n}" }, null] };
  assert.deepEqual([say.rows(7, 2), say.both(3)], ["2: 7", "All 3"]);
  await speak("en");
});

function keysOf(name: string, rows: Table): string[] {
  return Object.keys(rows).map((key) => `${name}: ${key}`);
}

/** What two languages of a text must have in common: its kind, its length, forms and places. */
function shapeOf(text: unknown): unknown {
  if (typeof text === "string") return "text";
  if (Array.isArray(text)) return text.length;
  const { one, ...forms } = text as Record<string, string>;
  const places = (words: string) => (words.match(/\{\w+\}/g) ?? []).sort();
  const exact = Object.entries(forms).map(([form, words]) => [form, ...places(words)]);
  return [one !== undefined, ...exact];
}
