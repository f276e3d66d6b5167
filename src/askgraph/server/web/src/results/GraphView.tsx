// The evidence as a graph to look at, and the same as a list to read.

import type { Core } from "cytoscape";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { resource } from "../api/graphs.ts";
import { thingAddress } from "../app/router.ts";
import { onThemeChange } from "../app/theme.ts";
import { formatNumber, locale } from "../i18n/index.ts";
import { useAttempt } from "../parts/asking.ts";
import { Button, Named, ProblemNote, QuietButton } from "../parts/parts.tsx";
import { buildStyles, createCanvas, fitDrawing, redraw, zoomBy } from "./canvas.ts";
import { ZoomButtons } from "./controls.tsx";
import { type Drawing, drawAround, joinDrawings, type Node } from "./evidence.ts";
import { say } from "./words.ts";

/** More nodes than this have a larger frame. */
const MANY = 10;

export function GraphView({ drawing, graph }: { drawing: Drawing; graph: string }) {
  const [more, setMore] = useState<readonly Drawing[]>([]);
  const [chosen, setChosen] = useState<string | null>(null);
  const [attempt, problem] = useAttempt();
  const whole = useMemo(() => joinDrawings([drawing, ...more]), [drawing, more]);
  const frame = useRef<HTMLDivElement>(null);
  const core = useRef<Core | null>(null);
  const growing = useRef<(id: string) => void>(() => undefined);
  useEffect(() => {
    setMore([]);
    setChosen(null);
  }, [drawing]);
  useEffect(() => {
    if (!frame.current) return;
    const made = createCanvas(frame.current, setChosen, (id) => growing.current(id));
    core.current = made;
    const stop = onThemeChange(() => made.style(buildStyles()));
    return () => {
      stop();
      made.destroy();
      core.current = null;
    };
  }, []);
  useEffect(() => {
    const known = new Set(drawing.nodes.map(({ id }) => id));
    const added = new Set(whole.nodes.map(({ id }) => id).filter((id) => !known.has(id)));
    if (core.current) redraw(core.current, whole, { anew: more.length === 0, added });
  }, [whole]);
  useEffect(() => {
    core.current?.elements().unselect();
    if (chosen !== null) core.current?.getElementById(chosen).select();
  }, [chosen, whole]);
  const node = whole.nodes.find(({ id }) => id === chosen) ?? null;
  const expand = (iri: string) =>
    attempt(async () => {
      const around = await resource(graph, { iri });
      setMore((before) => [...before, drawAround(around, locale.value)]);
    });
  growing.current = (id) => {
    if (whole.nodes.some((one) => one.id === id && one.iri)) void expand(id);
  };
  const [things, triples] = [formatNumber(whole.nodes.length), formatNumber(whole.edges.length)];
  return (
    <div class="graph-view stack near">
      <div class="graph-frame sheet">
        <div
          class={whole.nodes.length > MANY ? "graph-canvas many" : "graph-canvas"}
          ref={frame}
          aria-hidden="true"
        />
        <ZoomButtons
          zoom={(factor) => core.current && zoomBy(core.current, factor)}
          fit={() => core.current && fitDrawing(core.current)}
        />
        {node && (
          <div class="map-card raised row" role="status">
            <Named href={node.iri ? thingAddress(graph, node.iri) : null}>{node.label}</Named>
            {node.iri && <Button onClick={() => node.iri && expand(node.iri)} text={say.expand} />}
          </div>
        )}
      </div>
      <ProblemNote problem={problem} />
      <p class="muted small">
        {say.drawingOf(things, triples)}. {say.drawingHelp}
      </p>
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
  const kinds = Object.entries(words).filter(([kind]) =>
    drawing.nodes.some((n) => n.kind === kind),
  );
  return (
    <ul class="legend row loose muted small">
      {kinds.map(([kind, word]) => (
        <li key={kind}>
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
