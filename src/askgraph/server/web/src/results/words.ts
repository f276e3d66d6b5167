import { texts } from "../i18n/index.ts";
import words from "./words.json";

export const say = texts("results/words", words);

/** The plural of an English noun, by the rules alone. */
export function pluralize(noun: string): string {
  if (!/^[a-z ]+$/.test(noun) || noun.endsWith("s")) return noun;
  if (/(x|z|ch|sh)$/.test(noun)) return `${noun}es`;
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}
