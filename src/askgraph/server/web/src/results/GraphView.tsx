// The evidence as a graph to look at, and the same as a list to read.

import { useEffect, useMemo, useState } from "preact/hooks";
import { resource } from "../api/graphs.ts";
import { thingAddress } from "../app/router.ts";
import { formatNumber, locale } from "../i18n/index.ts";
import { useAttempt } from "../parts/asking.ts";
import { Button, Named, ProblemNote, QuietButton } from "../parts/parts.tsx";
import { type Drawing, drawAround, joinDrawings, type Node } from "./evidence.ts";
import { GraphCanvas } from "./GraphCanvas.tsx";
import { useWidth } from "./measure.ts";
import { Pictures } from "./Pictures.tsx";
import { say } from "./words.ts";

export function GraphView({ drawing, graph }: { drawing: Drawing; graph: string }) {
  const [more, setMore] = useState<readonly Drawing[]>([]);
  const [chosen, setChosen] = useState<string | null>(null);
  const [attempt, problem] = useAttempt();
  const [element, width] = useWidth<HTMLDivElement>();
  const whole = useMemo(() => joinDrawings([drawing, ...more]), [drawing, more]);
  useEffect(() => {
    setMore([]);
    setChosen(null);
  }, [drawing]);
  const node = whole.nodes.find(({ id }) => id === chosen) ?? null;
  const expand = (iri: string) =>
    attempt(async () => {
      const around = await resource(graph, { iri });
      setMore((before) => [...before, drawAround(around, locale.value)]);
    });
  const label = say.drawingOf(formatNumber(whole.nodes.length), formatNumber(whole.edges.length));
  return (
    <div class="graph-view stack near" ref={element}>
      <div class="graph-frame sheet">
        {width > 0 && (
          <GraphCanvas
            {...{ drawing: whole, first: drawing, label, width, chosen }}
            onChoose={setChosen}
            onGrow={(iri) => void expand(iri)}
          />
        )}
        {node && (
          <div class="map-card raised row" role="status">
            <Named href={node.iri ? thingAddress(graph, node.iri) : null}>{node.label}</Named>
            {node.iri && <Button onClick={() => node.iri && expand(node.iri)} text={say.expand} />}
          </div>
        )}
      </div>
      <ProblemNote problem={problem} />
      <div class="row spread">
        <p class="muted small">
          {label}. {say.drawingHelp}
        </p>
        <Pictures
          name={label}
          about={[]}
          drawing={() => element.current?.querySelector(".graph-drawn")}
        />
      </div>
      <Legend drawing={whole} />
      <details>
        <summary class="muted small">{say.asList}</summary>
        <TripleList drawing={whole} graph={graph} onExpand={expand} />
      </details>
    </div>
  );
}

function Legend({ drawing }: { drawing: Drawing }) {
  const words = { thing: say.legendThing, class: say.legendClass, value: say.legendValue };
  const drawn = new Set<string>(drawing.nodes.map(({ kind }) => kind));
  const kinds = Object.entries(words).filter(([kind]) => drawn.has(kind));
  return (
    <ul class="legend row loose muted small">
      {kinds.map(([kind, word]) => (
        <li key={kind} class="row">
          <span class={`swatch ${kind}`} />
          {word}
        </li>
      ))}
    </ul>
  );
}

// The triples of a drawing as a list, by their subjects.

interface Props {
  readonly drawing: Drawing;
  readonly graph: string;
  readonly onExpand: (iri: string) => void;
}

function TripleList({ drawing, graph, onExpand }: Props) {
  const subjects = new Set(drawing.edges.map(({ source }) => source));
  const nodeOf = (id: string) => drawing.nodes.find((node) => node.id === id);
  return (
    <ul class="triple-list stack near">
      {[...subjects].map((id) => {
        const iri = nodeOf(id)?.iri;
        return (
          <li key={id}>
            <NodeName node={nodeOf(id)} graph={graph} />
            {iri && <QuietButton onClick={() => onExpand(iri)} text={say.expand} />}
            <ul>
              {drawing.edges
                .filter(({ source }) => source === id)
                .map(({ id: edge, label, target }) => (
                  <li key={edge}>
                    <bdi class="muted">{label}</bdi>{" "}
                    <NodeName node={nodeOf(target)} graph={graph} />
                  </li>
                ))}
            </ul>
          </li>
        );
      })}
    </ul>
  );
}

function NodeName({ node, graph }: { node: Node | undefined; graph: string }) {
  return <Named href={node?.iri ? thingAddress(graph, node.iri) : undefined}>{node?.label}</Named>;
}
