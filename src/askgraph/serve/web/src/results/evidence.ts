// The triples behind a result as a drawing: things and values, joined by predicates.

import type { Resource } from "../api/browse.ts";
import type { Cell, Evidence, Row } from "../api/types.ts";
import { shortName, visible } from "./texts.ts";

export interface Node {
  id: string;
  label: string;
  /** The IRI of a thing; null for a value or a nameless thing. */
  iri: string | null;
  kind: "thing" | "value" | "class";
}

export interface Edge {
  id: string;
  source: string;
  target: string;
  label: string;
  iri: string;
}

export interface Drawing {
  nodes: Node[];
  edges: Edge[];
}

/** A term of N-Triples taken apart. */
export interface Term {
  kind: "iri" | "literal" | "blank";
  value: string;
  language: string | null;
  datatype: string | null;
}

const NOTHING: Drawing = { nodes: [], edges: [] };
const MOST_NEAR = 5;
const TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const LITERAL = /^"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?$/s;
const ESCAPED = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/gs;
const CONTROLS: Record<string, string> = { t: "\t", n: "\n", r: "\r", b: "\b", f: "\f" };

/** The drawing of the evidence of all rows, or of one; each triple once. */
export function drawingOf(
  evidence: readonly Evidence[],
  labels: Readonly<Record<string, string>>,
  row: number | null = null,
): Drawing {
  const shown = row === null ? evidence : evidence.filter((piece) => piece.row === row);
  const triples = shown.flatMap((piece) => piece.triples);
  return joined(
    NOTHING,
    triples.map(([s, p, o]) => drawn(s, p, o, labels)),
  );
}

/** The drawing of rows that are triples. */
export function drawingOfTriples(rows: readonly Row[]): Drawing {
  const whole = rows.flatMap(([s, p, o]) => (s && p && o ? [[s, p, o] as const] : []));
  return joined(
    NOTHING,
    whole.map(([s, p, o]) => drawnCells(s, p, o)),
  );
}

/** The drawing of a thing with what is said of it and what points at it, the first of each. */
export function drawingAround(around: Resource): Drawing {
  const middle: Cell = { type: "iri", value: around.iri, label: around.label };
  const out = around.outgoing.flatMap(({ predicate, values }) =>
    values.slice(0, MOST_NEAR).map((value) => drawnCells(middle, predicate, value)),
  );
  const into = around.incoming.flatMap(({ predicate, values }) =>
    values.slice(0, MOST_NEAR).map((value) => drawnCells(value, predicate, middle)),
  );
  return joined(NOTHING, [...out, ...into]);
}

/** A drawing with more in it; what is there already stays as it is. */
export function joined(drawing: Drawing, more: readonly Drawing[]): Drawing {
  const nodes = new Map(drawing.nodes.map((node) => [node.id, node]));
  const edges = new Map(drawing.edges.map((edge) => [edge.id, edge]));
  for (const part of more) {
    for (const node of part.nodes) if (!nodes.has(node.id)) nodes.set(node.id, node);
    for (const edge of part.edges) if (!edges.has(edge.id)) edges.set(edge.id, edge);
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}

/** One triple of N-Triples terms as a drawing of two nodes and an edge. */
export function drawn(
  subject: string,
  predicate: string,
  object: string,
  labels: Readonly<Record<string, string>>,
): Drawing {
  const [from, by, to] = [termOf(subject), termOf(predicate), termOf(object)];
  const source = nodeOf(subject, from, labels, false);
  const isClass = by.value === TYPE;
  const target =
    to.kind === "literal"
      ? valueNode(`${subject} ${predicate} ${object}`, to)
      : nodeOf(object, to, labels, isClass);
  const edge = {
    id: `${source.id} ${predicate} ${target.id}`,
    source: source.id,
    target: target.id,
    label: named(by.value, labels),
    iri: by.value,
  };
  return { nodes: [source, target], edges: [edge] };
}

/** A term written in N-Triples, taken apart; a text that is none is a value as it stands. */
export function termOf(text: string): Term {
  if (text.startsWith("<") && text.endsWith(">"))
    return { kind: "iri", value: text.slice(1, -1), language: null, datatype: null };
  if (text.startsWith("_:"))
    return { kind: "blank", value: text.slice(2), language: null, datatype: null };
  const found = LITERAL.exec(text);
  if (!found) return { kind: "literal", value: text, language: null, datatype: null };
  const [, value = "", language = null, datatype = null] = found;
  return { kind: "literal", value: unescaped(value), language, datatype };
}

function drawnCells(subject: Cell, predicate: Cell, object: Cell): Drawing {
  const labels: Record<string, string> = {};
  for (const { value, label } of [subject, predicate, object]) if (label) labels[value] = label;
  return drawn(termText(subject), termText(predicate), termText(object), labels);
}

/** A cell as a term of N-Triples. */
function termText({ type, value, language, datatype }: Cell): string {
  if (type === "iri") return `<${value}>`;
  if (type === "blank") return value.startsWith("_:") ? value : `_:${value}`;
  const quoted = JSON.stringify(value);
  return language ? `${quoted}@${language}` : datatype ? `${quoted}^^<${datatype}>` : quoted;
}

function nodeOf(
  id: string,
  term: Term,
  labels: Readonly<Record<string, string>>,
  isClass: boolean,
): Node {
  if (term.kind === "blank") return { id, label: "·", iri: null, kind: "thing" };
  return {
    id,
    label: named(term.value, labels),
    iri: term.value,
    kind: isClass ? "class" : "thing",
  };
}

function valueNode(id: string, term: Term): Node {
  return { id, label: visible(term.value), iri: null, kind: "value" };
}

function named(iri: string, labels: Readonly<Record<string, string>>): string {
  return visible(labels[iri] ?? shortName(iri));
}

function unescaped(text: string): string {
  return text.replace(ESCAPED, (_, four: string, eight: string, sign: string) =>
    sign ? (CONTROLS[sign] ?? sign) : String.fromCodePoint(Number.parseInt(four ?? eight, 16)),
  );
}
