// The page's language, and texts that are typed; a file words.json has each in English and German,
// fr.json and es.json of this folder have all in French and Spanish.
//
//     "ask": ["Ask", "Fragen"],
//     "rows": [{ "one": "1 row", "other": "{count} rows" }, …]
//
//     const say = texts("ask/words", words);
//     <button>{say.ask}</button> <p>{say.rows(12)}</p>
//
// The build leaves the English in place; another language is one file, loaded when it is spoken.

import { computed, signal } from "@preact/signals";

/** A place for a value, `{count}`, or for a word that goes with one, `{count=row|rows}`. */
const PLACE = /\{(\w+)(?:=([^|}]*)\|([^}]*))?\}/g;

/** Languages by their own names, in the order in which they are offered. */
export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", es: "Español" } as const;

export type Language = keyof typeof LANGUAGES;

/**
 * A text with values in it, `{count} rows`; there may be others for a first value of 0 or 2, and
 * for what the language counts as one.
 */
interface Pattern {
  readonly zero?: string | undefined;
  readonly one?: string | undefined;
  readonly two?: string | undefined;
  readonly other: string;
}

export type Text = string | readonly string[] | Pattern;

/** A language's texts by the table that they belong to, in the order of its keys. */
export type Texts = Readonly<Record<string, readonly (Text | null)[]>>;

type Value = string | number;
type Said<T> = T extends Pattern ? (...values: Value[]) => string : T;

/** The language that the page speaks. */
export const language = signal<Language>("en");

/** The texts of the languages that were loaded. */
export const learned: Partial<Record<Language, Texts>> = {};

/**
 * The texts of a table in the page's language, in English if they lack; the table's name is its
 * path. Values stand in the order in which the English text names them.
 */
export function texts<T extends Record<string, readonly Text[]>>(
  name: string,
  table: T,
): { readonly [Key in keyof T]: Said<T[Key][number]> } {
  const keys = Object.keys(table);
  const get = (_: unknown, key: string) => {
    const [en] = table[key] ?? [];
    const text = learned[language.value]?.[name]?.[keys.indexOf(key)] ?? en;
    if (typeof text !== "object" || !("other" in text)) return text;
    const names = namesIn((en as Pattern).other);
    return (...values: Value[]) => fillText(text, names, values);
  };
  return new Proxy(table, { get }) as never;
}

function namesIn(text: string): string[] {
  return [...new Set([...text.matchAll(PLACE)].map(([, name = ""]) => name))];
}

function fillText(text: Pattern, names: readonly string[], values: readonly Value[]): string {
  return chosen(text, Number(values[0])).replace(PLACE, (_, name, one, other) => {
    const value = values[names.indexOf(name)] ?? "";
    if (one !== undefined) return plurals.value.select(Number(value)) === "one" ? one : other;
    return typeof value === "number" ? formatNumber(value) : value;
  });
}

function chosen({ zero, one, two, other }: Pattern, count: number): string {
  const exact = count === 0 ? zero : count === 2 ? two : undefined;
  return exact ?? (plurals.value.select(count) === "one" ? one : undefined) ?? other;
}

/** The tag to format numbers and days by: the browser's own for the page's language, as en-GB. */
export const locale = computed<string>(() => {
  const preferred = typeof document === "undefined" ? [] : navigator.languages;
  return preferred.find((tag) => tag.split("-")[0] === language.value) ?? language.value;
});

const plurals = computed(() => new Intl.PluralRules(language.value));
const numbers = computed(() => new Intl.NumberFormat(locale.value, { maximumFractionDigits: 6 }));
const times = computed(
  () => new Intl.DateTimeFormat(locale.value, { dateStyle: "medium", timeStyle: "short" }),
);

/** A number with the language's separators. */
export function formatNumber(value: number): string {
  return numbers.value.format(value);
}

/** A share as a percentage, spaced as the language does. */
export function formatPercent(share: number): string {
  const space = language.value === "fr" ? "\u202f" : "\u00a0";
  return `${formatNumber(Math.round(100 * share))}${space}%`;
}

/** A moment in ISO 8601 as day and time. */
export function formatTime(moment: string): string {
  const parsed = new Date(moment);
  return Number.isNaN(parsed.getTime()) ? moment : times.value.format(parsed);
}

/** A name with what it says, `How sure: 95 %`, spaced as the language does. */
export function named(name: string, value = ""): string {
  return `${name}${language.value === "fr" ? "\u00a0" : ""}: ${value}`;
}

/** Seconds in the precision that a reader cares for: `38 ms`, `1.4 s`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 0.9995) return `${Math.max(1, Math.round(seconds * 1000))} ms`;
  const digits = seconds < 10 ? 1 : 0;
  return `${seconds.toLocaleString(locale.value, { maximumFractionDigits: digits })} s`;
}
