// Terms of a result as people read them, in the page's language.

import type { Cell } from "../api/types.ts";
import { locale } from "../i18n/index.ts";
import { textOf } from "../results/texts.ts";

/** A cell in the page's language: a label, a number with separators, a day in words. */
export function cellText(cell: Cell | null): string {
  return cell ? textOf(cell, locale.value) : "";
}
