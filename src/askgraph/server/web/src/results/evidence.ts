// The triples behind a result as a drawing: things and values, joined by predicates.

import type { CellView, EvidenceView, FactsView, ResourceView, Row } from "../api/types.ts";
import { shortName, stripControls, textOf } from "./texts.ts";

export interface Node {
  readonly id: string;
  readonly label: string;
  /** The IRI of a thing; null for a value or a nameless thing. */
  readonly iri: string | null;
  readonly kind: "thing" | "value" | "class";
}

interface Edge {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly label: string;
  readonly iri: string;
}

export interface Drawing {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
}

type Labels = Readonly<Record<string, string>>;

const MOST_NEAR = 5;
/** Predicates that give the class of a thing. */
export const TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const LITERAL = /^"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?$/s;
const ESCAPED = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))/gs;
const CONTROLS: Labels = { t: "\t", n: "\n", r: "\r", b: "\b", f: "\f" };

/** The drawing of the evidence of rows; each triple once. */
export function drawEvidence(
  evidence: readonly EvidenceView[],
  labels: Labels,
  locale: string,
): Drawing {
  const parse = (triple: readonly string[]) => triple.map((term) => parseTerm(term, labels));
  const rows = evidence.flatMap(({ triples }) => triples.map(parse));
  return drawTriples(rows, locale);
}

/** The drawing of rows that are triples. */
export function drawTriples(rows: readonly Row[], locale: string): Drawing {
  const parts = rows.flatMap(([s, p, o]) => (s && p && o ? [drawTriple(s, p, o, locale)] : []));
  return joinDrawings(parts);
}

/** Returns the drawing of a thing with the first facts about it, and those that point at it. */
export function drawAround(around: ResourceView, locale: string): Drawing {
  const middle: CellView = { type: "iri", value: around.iri, label: around.label };
  const triples = (facts: readonly FactsView[], isOut: boolean): Row[] =>
    facts.flatMap(({ predicate, values }) =>
      values
        .slice(0, MOST_NEAR)
        .map((value) => (isOut ? [middle, predicate, value] : [value, predicate, middle])),
    );
  const rows = [...triples(around.outgoing, true), ...triples(around.incoming, false)];
  return drawTriples(rows, locale);
}

/** Merges drawings; for a node in several of them, the first wins. */
export function joinDrawings(parts: readonly Drawing[]): Drawing {
  const nodes = new Map<string, Node>();
  const edges = new Map<string, Edge>();
  for (const part of parts) {
    for (const node of part.nodes) if (!nodes.has(node.id)) nodes.set(node.id, node);
    for (const edge of part.edges) if (!edges.has(edge.id)) edges.set(edge.id, edge);
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()] };
}

/** One triple as a drawing of two nodes and an edge. */
export function drawTriple(
  subject: CellView,
  predicate: CellView,
  object: CellView,
  locale: string,
): Drawing {
  const source = nodeOf(subject, "", locale);
  const isClass = predicate.value === TYPE;
  const triple = `${source.id} ${predicate.value} `;
  const target = nodeOf(object, triple, locale);
  const [id, label] = [triple + target.id, textOf(predicate, locale)];
  const edge = { id, source: source.id, target: target.id, label, iri: predicate.value };
  return { nodes: [source, isClass ? { ...target, kind: "class" } : target], edges: [edge] };
}

/** A term of N-Triples, or a path between two, as a cell. */
export function parseTerm(text: string, labels: Labels): CellView {
  if (/^<[^<>]*>$/.test(text)) {
    const value = text.slice(1, -1);
    return { type: "iri", value, label: labels[value] ?? null };
  }
  if (text.startsWith("_:")) return { type: "blank", value: text };
  const found = LITERAL.exec(text);
  if (!found) {
    const path = text.replace(/<([^<>]*)>/g, (_, iri: string) => labels[iri] ?? shortName(iri));
    return { type: "literal", value: path };
  }
  const [, value = "", language = null, datatype = null] = found;
  return { type: "literal", value: unescapeText(value), language, datatype };
}

/** A thing is one node everywhere; a value is one node per triple. */
function nodeOf(cell: CellView, triple: string, locale: string): Node {
  const { type, value } = cell;
  if (type === "iri") return { id: value, label: textOf(cell, locale), iri: value, kind: "thing" };
  if (type === "blank") return { id: value, label: "·", iri: null, kind: "thing" };
  const id = `${triple}${value} ${cell.language ?? ""} ${cell.datatype ?? ""}`;
  return { id, label: stripControls(textOf(cell, locale)), iri: null, kind: "value" };
}

function unescapeText(text: string): string {
  return text.replace(ESCAPED, (_, four: string, eight: string, sign: string) =>
    sign ? (CONTROLS[sign] ?? sign) : String.fromCodePoint(Number.parseInt(four ?? eight, 16)),
  );
}
