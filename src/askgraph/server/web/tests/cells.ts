// Cells of results for tests.

import type { Cell } from "../src/api/types.ts";

export const XSD = "http://www.w3.org/2001/XMLSchema#";

export const thing = (name: string): Cell => ({
  type: "iri",
  value: `http://x/${name}`,
  label: name,
});
export const text = (value: string): Cell => ({ type: "literal", value });
export const typed = (value: string | number, type: string): Cell => ({
  type: "literal",
  value: String(value),
  datatype: XSD + type,
});
export const number = (value: string | number): Cell => typed(value, "decimal");
