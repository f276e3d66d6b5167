// Cells of results for tests.

import type { CellView } from "../src/api/types.ts";

export const XSD = "http://www.w3.org/2001/XMLSchema#";

export const thing = (name: string): CellView => ({
  type: "iri",
  value: `http://x/${name}`,
  label: name,
});
export const text = (value: string): CellView => ({ type: "literal", value });
export const typed = (value: string | number, type: string): CellView => ({
  type: "literal",
  value: String(value),
  datatype: XSD + type,
});
export const number = (value: string | number): CellView => typed(value, "decimal");
