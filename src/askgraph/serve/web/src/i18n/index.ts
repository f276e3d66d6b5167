// The page's language, and texts that are typed: none is in one language only.
//
//     const say = texts({ ask: ["Ask", "Fragen"], rows: [(n: number) => `${n} rows`, …] });
//     <button>{say.ask}</button>

import { computed, signal } from "@preact/signals";
import { keep, kept } from "../app/kept.ts";

export type Language = "en" | "de";

/** Languages by their own names, in the order of the switch. */
export const LANGUAGES: Readonly<Record<Language, string>> = { en: "English", de: "Deutsch" };

type Text = string | readonly string[] | ((...values: never[]) => string);

/** The language that the page speaks. */
export const language = signal<Language>(firstLanguage());

/** Speaks another language from now on, and after a reload. */
export function speak(chosen: Language): void {
  language.value = chosen;
  keep("language", chosen);
}

/** The texts in the page's language; the table has each in English and beside it in German. */
export function texts<T extends Record<string, Text>>(
  table: {
    readonly [Key in keyof T]: readonly [en: T[Key], de: T[Key]];
  },
): Readonly<T> {
  const get = (_: T, key: string) => table[key]?.[language.value === "de" ? 1 : 0];
  return new Proxy(table as unknown as T, { get });
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
