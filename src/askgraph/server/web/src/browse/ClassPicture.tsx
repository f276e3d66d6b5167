// The largest classes of a graph, and how they are linked: a drawing, and the same as a list.

import { useMemo, useState } from "preact/hooks";
import { pictureOf } from "../api/graphs.ts";
import type { DiagramView } from "../api/types.ts";
import { classAddress } from "../app/router.ts";
import { formatNumber, language } from "../i18n/index.ts";
import { useFetched } from "../parts/asking.ts";
import { Named } from "../parts/parts.tsx";
import { ArrowHead } from "../results/controls.tsx";
import { lineOf, shortenText, useWidth, widthOf } from "../results/measure.ts";
import { type Box, boxOf, LOOP, layOut, type Node } from "./layout.ts";
import { say } from "./words.ts";

const NARROW = 560;
const LONGEST = 118; // pixels of a name
const BOLD = 600;

/** The picture; nothing of a graph that has fewer than two classes. */
export function ClassPicture({ graph }: { graph: string }) {
  const { value } = useFetched(`${graph} ${language.value}`, (signal) => pictureOf(graph, signal));
  return value && value.classes.length > 1 ? <Picture graph={graph} picture={value} /> : null;
}

interface PictureProps {
  readonly graph: string;
  readonly picture: DiagramView;
}

function Picture({ graph, picture }: PictureProps) {
  const [element, width] = useWidth<HTMLElement>();
  const names = new Map(picture.classes.map(({ iri, label }) => [iri, label]));
  return (
    <section ref={element}>
      <h2 class="section-title">{say.drawn}</h2>
      {width > 0 && <Drawing {...{ graph, picture, width }} />}
      <details>
        <summary>{say.asList}</summary>
        <ul class="class-links newspaper" style={{ "--least": "22rem" }}>
          {picture.links.map((link) => (
            <li key={`${link.source} ${link.target}`}>
              <Named href={classAddress(graph, link.source)}>{names.get(link.source)}</Named>{" "}
              <bdi class="muted">{link.label}</bdi>{" "}
              <Named href={classAddress(graph, link.target)}>{names.get(link.target)}</Named>{" "}
              <span class="muted small number">{formatNumber(link.triples)}</span>
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}

function Drawing({ graph, picture, width }: PictureProps & { readonly width: number }) {
  const [near, setNear] = useState("");
  const isNarrow = width < NARROW;
  const leave = () => setNear("");
  const { ascent, descent } = lineOf();
  const high = ascent + descent;
  const [nodes, edges] = useMemo(() => {
    const most = picture.classes[0]?.instances ?? 1;
    const classes = picture.classes.slice(0, isNarrow ? 8 : 12);
    const boxes = classes.map(({ iri, label, instances }): Box => {
      const [name, count] = [shortenText(label, LONGEST, BOLD), formatNumber(instances)];
      const radius = 9 + (isNarrow ? 14 : 20) * Math.sqrt(instances / most);
      const wide = Math.max(2 * radius, widthOf(name, BOLD), widthOf(count)) + 6;
      return { id: iri, name, label, count, radius, wide, below: 2 * high + 2 };
    });
    const links = picture.links.map(({ label, ...one }) => {
      const name = shortenText(label, LONGEST);
      return { ...one, name, label, wide: widthOf(name) + 6, high };
    });
    return layOut(boxes, links, width, Math.min(isNarrow ? 520 : 480, 100 + 40 * boxes.length));
  }, [picture, width]);
  const areas = nodes.map(boxOf);
  const top = Math.min(...areas.map((area) => area.top)) - LOOP;
  const height = Math.max(...areas.map(({ bottom }) => bottom)) - top;
  return (
    <svg
      class={near ? "classes-drawn pointed" : "classes-drawn"}
      role="group"
      aria-label={say.drawn}
      viewBox={`0 ${top} ${width} ${height}`}
      {...{ width, height }}
    >
      <ArrowHead id="arrow" />
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: lines are none; the list says the same */}
      <g aria-hidden="true">
        {edges.map(({ source, target, path, label, name, at }) => {
          const look = source === near || target === near ? "near" : "";
          return (
            <g key={`${source} ${target}`}>
              <path class={look} d={path} marker-end="url(#arrow)">
                <title>{label}</title>
              </path>
              {at && (
                <text class={look} x={at.x} y={at.y + (ascent - descent) / 2}>
                  {name}
                </text>
              )}
            </g>
          );
        })}
      </g>
      {nodes.map((node: Node) => (
        <a
          key={node.id}
          href={classAddress(graph, node.id)}
          onPointerEnter={() => setNear(node.id)}
          onPointerLeave={leave}
          onFocus={() => setNear(node.id)}
          onBlur={leave}
        >
          {node.name !== node.label && <title>{`${node.label} ${node.count}`}</title>}
          <circle cx={node.x} cy={node.y} r={node.radius} />
          <text class="class-name" x={node.x} y={node.y + node.radius + 2 + ascent}>
            {node.name}
          </text>
          <text class="class-count number" x={node.x} y={node.y + node.radius + 2 + high + ascent}>
            {node.count}
          </text>
        </a>
      ))}
    </svg>
  );
}
