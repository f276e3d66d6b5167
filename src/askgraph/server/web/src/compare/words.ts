import { texts } from "../i18n/index.ts";
import words from "./words.json";

export const say = texts("compare/words", words);
