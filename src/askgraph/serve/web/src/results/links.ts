// Addresses of the page's own places that show things of a graph.

/** The page of a thing of a graph. */
export function thingAddress(graph: string, iri: string): string {
  return `/graphs/${encodeURIComponent(graph)}?${new URLSearchParams({ iri })}`;
}

/** The page of a class of a graph. */
export function classAddress(graph: string, iri: string): string {
  return `/graphs/${encodeURIComponent(graph)}?${new URLSearchParams({ class: iri })}`;
}

/** The page of a predicate of a graph. */
export function propertyAddress(graph: string, iri: string): string {
  return `/graphs/${encodeURIComponent(graph)}?${new URLSearchParams({ property: iri })}`;
}
