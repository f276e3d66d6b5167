// The styles of the page: one scale of sizes.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const SOURCES = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => /\.(css|tsx?)$/.test(name))
  .map((name) => ({ name, text: readFileSync(`src/${name}`, "utf8") }));

const TOKENS = readFileSync("src/styles/tokens.css", "utf8");
const NAMED = [...TOKENS.matchAll(/^ {2}(--text[\w-]*):/gm)].map(([, name]) => name);

test("each size of text is one of those that have a name, and each of these is used", () => {
  const used = SOURCES.flatMap(({ name, text }) =>
    [...text.matchAll(/\b(?:font|font-size|fontSize)"?:\s*([^;,}]+)/g)].map(([, value = ""]) => ({
      name,
      value,
    })),
  );
  const odd = used.filter(({ name, value }) =>
    name === "boards/export.tsx" // writes files that have no style sheet
      ? !TOKENS.includes(`: ${value.split(" /")[0]};`)
      : !/^"?inherit|var\(--text[\w-]*\)|pixels\(/.test(value),
  );
  assert.deepEqual(odd, []);
  const said = SOURCES.flatMap(({ text }) => [
    ...[...text.matchAll(/var\((--text[\w-]*)\)/g)].map(([, name]) => name),
    ...[...text.matchAll(/pixels\("(text[\w-]*)"\)/g)].map(([, name]) => `--${name}`),
  ]);
  assert.deepEqual([...new Set(said)].sort(), NAMED.sort());
});
