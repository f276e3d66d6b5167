// The pages about graphs: the list, a graph, and its classes, predicates and things.

import { useEffect } from "preact/hooks";
import type { PageProps } from "../app/App.tsx";
import { knownGraphs, knownMe, knownServer } from "../app/known.ts";
import { GraphList } from "./GraphList.tsx";
import { GraphPage } from "./GraphPage.tsx";
import { ClassPage, PropertyPage, ThingPage } from "./TermPages.tsx";

/** The page of a graph, or of something in it; without one the list of all. */
export function BrowsePage({ id: graph, query }: PageProps) {
  useEffect(() => {
    knownGraphs.need();
    knownMe.need();
    knownServer.need();
  }, []);
  if (!graph) return <GraphList />;
  const [thing, cls, property] = ["iri", "class", "property"].map((name) => query.get(name));
  if (thing) return <ThingPage key={thing} graph={graph} iri={thing} />;
  if (cls) return <ClassPage key={cls} graph={graph} iri={cls} />;
  if (property) return <PropertyPage key={property} graph={graph} iri={property} />;
  return <GraphPage key={graph} graph={graph} />;
}
