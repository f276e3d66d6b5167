// What a graph is about: its classes, predicates and things.

import { useEffect } from "preact/hooks";
import { knownGraphs, knownMe, knownServer } from "../app/known.ts";
import { ClassPage } from "./ClassPage.tsx";
import { GraphList } from "./GraphList.tsx";
import { GraphPage } from "./GraphPage.tsx";
import { ThingPage } from "./ThingPage.tsx";

export interface BrowsePageProps {
  /** The graph that is shown; null for the list of all. */
  readonly graph: string | null;
  readonly query: URLSearchParams;
}

export function BrowsePage({ graph, query }: BrowsePageProps) {
  useEffect(() => {
    knownGraphs.need();
    knownMe.need();
    knownServer.need();
  }, []);
  if (graph === null) return <GraphList />;
  const [thing, cls] = [query.get("iri"), query.get("class")];
  if (thing) return <ThingPage key={thing} graph={graph} iri={thing} />;
  if (cls) return <ClassPage key={cls} graph={graph} iri={cls} />;
  return <GraphPage key={graph} graph={graph} />;
}
