// The page's language, and texts that are typed; a file words.json has each in every language.
//
//     "ask": ["Ask", "Fragen"],
//     "rows": [{ "one": "1 row", "other": "{count} rows" }, …]
//
//     const say = texts(words);
//     <button>{say.ask}</button> <p>{say.rows(12)}</p>

import { computed, signal } from "@preact/signals";
import { keep, kept } from "../app/kept.ts";

const PLACE = /\{(\w+)\}/g;

export type Language = "en" | "de";

/** Languages by their own names, in the order of the switch. */
export const LANGUAGES: Readonly<Record<Language, string>> = { en: "English", de: "Deutsch" };

/** A text with values in it, `{count} rows`; there may be others for a first value of 0, 1 or 2. */
interface Pattern {
  readonly zero?: string | undefined;
  readonly one?: string | undefined;
  readonly two?: string | undefined;
  readonly other: string;
}

type Text = string | readonly string[] | Pattern;
type Value = string | number;
type Said<T> = T extends Pattern ? (...values: Value[]) => string : T;

/** The language that the page speaks. */
export const language = signal<Language>(firstLanguage());

/** Speaks another language from now on, and after a reload. */
export function speak(chosen: Language): void {
  language.value = chosen;
  keep("language", chosen);
}

/**
 * The texts in the page's language; the table has each in English and beside it in German.
 * Values stand in the order in which the English text names them.
 */
export function texts<T extends Record<string, readonly Text[]>>(
  table: T,
): { readonly [Key in keyof T]: Said<T[Key][number]> } {
  const get = (_: unknown, key: string) => {
    const [en, de] = table[key] ?? [];
    const text = language.value === "de" ? de : en;
    if (typeof text !== "object" || !("other" in text)) return text;
    const names = namesIn((en as Pattern).other);
    return (...values: Value[]) => filled(text, names, values);
  };
  return new Proxy(table, { get }) as never;
}

function namesIn(text: string): string[] {
  return [...new Set([...text.matchAll(PLACE)].map(([, name = ""]) => name))];
}

function filled(text: Pattern, names: readonly string[], values: readonly Value[]): string {
  const few = ([text.zero, text.one, text.two] as const)[Number(values[0])];
  return (few ?? text.other).replace(PLACE, (_, name) => {
    const value = values[names.indexOf(name)] ?? "";
    return typeof value === "number" ? formatNumber(value) : value;
  });
}

/** The tag to format numbers and days by: the browser's own for the page's language, as en-GB. */
export const locale = computed<string>(() => {
  const preferred = typeof document === "undefined" ? [] : navigator.languages;
  return preferred.find((tag) => tag.split("-")[0] === language.value) ?? language.value;
});

const numbers = computed(() => new Intl.NumberFormat(locale.value, { maximumFractionDigits: 6 }));
const times = computed(
  () => new Intl.DateTimeFormat(locale.value, { dateStyle: "medium", timeStyle: "short" }),
);

/** A number with the language's separators. */
export function formatNumber(value: number): string {
  return numbers.value.format(value);
}

/** A moment in ISO 8601 as day and time. */
export function formatTime(moment: string): string {
  const parsed = new Date(moment);
  return Number.isNaN(parsed.getTime()) ? moment : times.value.format(parsed);
}

/** Seconds in the precision that a reader cares for: `38 ms`, `1.4 s`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 0.9995) return `${Math.max(1, Math.round(seconds * 1000))} ms`;
  const digits = seconds < 10 ? 1 : 0;
  return `${seconds.toLocaleString(locale.value, { maximumFractionDigits: digits })} s`;
}

function firstLanguage(): Language {
  const chosen = kept("language");
  if (chosen === "en" || chosen === "de") return chosen;
  const preferred = typeof navigator === "undefined" ? [] : navigator.languages;
  for (const tag of preferred) {
    const base = tag.slice(0, 2).toLowerCase();
    if (base === "en" || base === "de") return base;
  }
  return "en";
}
