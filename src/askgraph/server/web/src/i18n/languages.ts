// The choice of the page's language: the person's, else the browser's; its texts are loaded then.

import { keep, kept } from "../app/kept.ts";
import { LANGUAGES, type Language, language, learned, type Texts } from "./index.ts";

const LOADED: Readonly<Record<Exclude<Language, "en">, () => Promise<{ default: Texts }>>> = {
  de: () => import("words:de"),
  fr: () => import("words:fr"),
  es: () => import("words:es"),
};

/** Speaks another language from now on, and after a reload. */
export async function speak(chosen: Language): Promise<void> {
  if (await loadLanguage(chosen)) keep("language", chosen);
}

/** Speaks the language that was chosen, else the first of the browser's that the page has. */
export async function speakFirst(): Promise<void> {
  const wanted = [kept("language") ?? "", ...navigator.languages];
  const known = wanted.map((tag) => tag.slice(0, 2).toLowerCase()).find((tag) => tag in LANGUAGES);
  await loadLanguage((known ?? "en") as Language);
}

async function loadLanguage(chosen: Language): Promise<boolean> {
  try {
    if (chosen !== "en") learned[chosen] ??= (await LOADED[chosen]()).default;
  } catch {
    return false; // the file is not there any more, as after an update of the server
  }
  language.value = chosen;
  return true;
}
