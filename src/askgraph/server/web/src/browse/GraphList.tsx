// All graphs that can be asked here.

import { useEffect, useState } from "preact/hooks";
import { removeGraph } from "../api/graphs.ts";
import type { GraphSummary } from "../api/types.ts";
import type { PageProps } from "../app/App.tsx";
import { knownGraphs, knownMe, knownServer, may, need } from "../app/known.ts";
import { graphAddress } from "../app/router.ts";
import { chooseGraphs } from "../ask/choices.ts";
import { formatNumber, language } from "../i18n/index.ts";
import { useAttempt } from "../parts/asking.ts";
import { LinkButton, Named, ProblemNote, QuietButton, SureDialog } from "../parts/parts.tsx";
import { GraphPage } from "./GraphPage.tsx";
import { ClassPage, PropertyPage, ThingPage } from "./TermPages.tsx";
import { say } from "./words.ts";

export function GraphList() {
  const [leaving, setLeaving] = useState<GraphSummary | null>(null);
  const [attempt, failed] = useAttempt();
  const all = knownGraphs.value.value;
  const problem = failed ?? knownGraphs.problem.value;
  const remove = async (name: string) => {
    await attempt(() => removeGraph(name));
    await knownGraphs.load();
  };
  return (
    <div class="page stack browse">
      <div class="row spread">
        <h1>{say.graphs}</h1>
        {may("manage") && <LinkButton look="primary" icon="plus" href="/add" text={say.add} />}
      </div>
      <p class="muted">{say.graphsLead}</p>
      <ProblemNote problem={problem} again={() => void knownGraphs.load()} />
      {!all && !problem && <p class="muted">{say.loading}</p>}
      {all?.length === 0 && (
        <div class="note">
          <h2>{say.noGraphs}</h2>
          <p>{say.noGraphsMore}</p>
        </div>
      )}
      <ul class="tiles">
        {all?.map((graph) => (
          <li key={graph.name} class="card stack near graph-card">
            <h2>
              <Named class="graph-title" href={graphAddress(graph.name)}>
                {graph.title || graph.name}
              </Named>
            </h2>
            {graph.description && <p dir="auto">{graph.description}</p>}
            <Counts graph={graph} />
            <div class="row">
              <LinkButton href="/" onClick={() => chooseGraphs([graph.name])} text={say.ask} />
              <LinkButton look="quiet small" href={graphAddress(graph.name)} text={say.browse} />
              {graph.addable_by_web && may("manage") && (
                <QuietButton icon="bin" onClick={() => setLeaving(graph)} text={say.remove} />
              )}
            </div>
          </li>
        ))}
      </ul>
      {leaving && (
        <SureDialog
          title={say.remove}
          close={() => setLeaving(null)}
          go={() => void remove(leaving.name)}
        >
          <p>{say.removeSure(leaving.title || leaving.name)}</p>
        </SureDialog>
      )}
    </div>
  );
}

/** The size of a graph, and whether it is on this server. */
export function Counts({ graph }: { graph: GraphSummary }) {
  const counts = [
    [graph.triples, say.triples],
    [graph.classes, say.classes],
    [graph.predicates, say.predicates],
  ] as const;
  return (
    <ul class="counts row loose muted">
      {counts.map(
        ([count, name]) =>
          count !== null && (
            <li key={name(2)}>
              <strong class="number">{formatNumber(count)}</strong> {name(count)}
            </li>
          ),
      )}
      {graph.languages.length > 0 && (
        <li>{say.languages(graph.languages.map(languageName).join(", "))}</li>
      )}
      <li class="muted">{graph.remote ? say.remote : say.local}</li>
    </ul>
  );
}

function languageName(tag: string): string {
  try {
    return new Intl.DisplayNames(language.value, { type: "language" }).of(tag) ?? tag;
  } catch {
    return tag; // not a valid language tag
  }
}

// The pages about graphs: the list, a graph, and its classes, predicates and things.

/** The page of a graph, or of something in it; without one the list of all. */
export function BrowsePage({ id: graph, query }: PageProps) {
  useEffect(() => need(knownGraphs, knownMe, knownServer), []);
  if (!graph) return <GraphList />;
  const [thing, cls, property] = ["iri", "class", "property"].map((name) => query.get(name));
  if (thing) return <ThingPage key={thing} graph={graph} iri={thing} />;
  if (cls) return <ClassPage key={cls} graph={graph} iri={cls} />;
  if (property) return <PropertyPage key={property} graph={graph} iri={property} />;
  return <GraphPage key={graph} graph={graph} />;
}
