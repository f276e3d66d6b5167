// The views of a result, and which of them says most at a glance.

import type { Row } from "../api/types.ts";
import { type Chart, saysAll } from "./charts.ts";
import type { Column, Pin } from "./columns.ts";

export type View = "card" | "table" | "chart" | "map" | "graph";

interface Shown {
  readonly columns: readonly Column[];
  readonly charts: readonly Chart[];
  readonly pins: readonly Pin[];
  readonly rows: readonly Row[];
}

/** The view that a result opens with. */
export function firstView({ columns, charts, pins, rows }: Shown): View {
  if (onlyThing(columns, rows) !== null) return "card";
  if (pins.length > 0 && pins.length >= rows.length / 2) return "map";
  const [chart] = charts;
  return chart && saysAll(chart, columns, rows) ? "chart" : "table";
}

/** The one thing that a result is, by its IRI; null if it is more, or something else. */
export function onlyThing(columns: readonly Column[], rows: readonly Row[]): string | null {
  const answers = columns.filter((column) => column.answers);
  const [column] = answers;
  if (!column || answers.length > 1 || rows.length !== 1) return null;
  const cell = rows[0]?.[column.index];
  return cell?.type === "iri" && column.kind === "thing" ? cell.value : null;
}
