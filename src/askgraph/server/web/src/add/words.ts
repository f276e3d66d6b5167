import { texts } from "../i18n/index.ts";
import words from "./words.json";

export const say = texts("add/words", words);

/** Returns the stage of adding a graph in the page's language, if it is known. */
export function stageWords(doing: string): string {
  const [stage = ""] = doing.split(" ");
  const known: Readonly<Record<string, string>> = {
    checking: say.checking,
    loading: say.loading,
    reading: say.loading,
    profiling: say.profiling,
    indexing: say.indexing,
  };
  return known[stage] ?? doing;
}
