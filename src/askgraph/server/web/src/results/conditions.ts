// Conditions that a column can be filtered by, and values as they are typed.

import type { Row } from "../api/types.ts";
import type { Column } from "./columns.ts";

type Comparison = "=" | "!=" | "<" | "<=" | ">" | ">=" | "contains";

interface Typed {
  readonly value: string;
  readonly datatype: string | null;
}

const XSD = "http://www.w3.org/2001/XMLSchema#";
const ORDERED: readonly Comparison[] = [">", ">=", "<", "<=", "="];

/** What a column's values can be compared by; nothing if they are things. */
export function comparisonsOf({ kind }: Column): readonly Comparison[] {
  if (kind === "number" || kind === "time") return ORDERED;
  return kind === "text" ? ["contains"] : [];
}

/** A value as it was typed, of the datatype of a column's values; null if it cannot be one. */
export function typedValue(text: string, column: Column, rows: readonly Row[]): Typed | null {
  const bare = text.trim();
  if (column.kind === "text") return bare ? { value: bare, datatype: null } : null;
  const datatype = rows.map((row) => row[column.index]?.datatype).find(Boolean) ?? null;
  if (column.kind === "number" || /#(integer|decimal|int)$/.test(datatype ?? "")) {
    const number = bare.replace(/[\s\u00a0',](?=\d{3}(\D|$))/g, "");
    if (!/^[+-]?(\d+\.?\d*|\.\d+)$/.test(number)) return null;
    return { value: number, datatype: XSD + (/^[+-]?\d+$/.test(number) ? "integer" : "decimal") };
  }
  return moment(bare, datatype ?? `${XSD}date`);
}

/** A year stands for its first day where days are compared. */
function moment(text: string, datatype: string): Typed | null {
  const found = /^(-?\d{4,})(?:-(\d\d))?(?:-(\d\d))?$/.exec(text);
  if (!found) return null;
  const [, year, month = "01", day = "01"] = found;
  if (datatype.endsWith("#gYear")) return { value: year ?? "", datatype };
  if (datatype.endsWith("#gYearMonth")) return { value: `${year}-${month}`, datatype };
  const date = `${year}-${month}-${day}`;
  return { value: datatype.endsWith("#date") ? date : `${date}T00:00:00`, datatype };
}
