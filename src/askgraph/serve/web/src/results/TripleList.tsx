// The triples of a drawing as a list: what each thing is said of, one after the other.

import type { Drawing, Node } from "./evidence.ts";
import { thingAddress } from "./links.ts";
import { words } from "./words.ts";

interface Props {
  readonly drawing: Drawing;
  readonly graph: string;
  readonly onExpand: (iri: string) => void;
}

export function TripleList({ drawing, graph, onExpand }: Props) {
  const nodes = new Map(drawing.nodes.map((node) => [node.id, node]));
  const subjects = [...new Set(drawing.edges.map(({ source }) => source))];
  return (
    <ul class="triple-list">
      {subjects.map((id) => {
        const subject = nodes.get(id);
        return (
          subject && (
            <li key={id}>
              <Named node={subject} graph={graph} />
              {subject.iri && (
                <button
                  type="button"
                  class="button quiet small"
                  onClick={() => subject.iri && onExpand(subject.iri)}
                >
                  {words().expand}
                </button>
              )}
              <ul>
                {drawing.edges
                  .filter(({ source }) => source === id)
                  .map(({ id: edge, label, target }) => (
                    <li key={edge}>
                      <bdi class="muted">{label}</bdi>{" "}
                      <Named node={nodes.get(target)} graph={graph} />
                    </li>
                  ))}
              </ul>
            </li>
          )
        );
      })}
    </ul>
  );
}

function Named({ node, graph }: { node: Node | undefined; graph: string }) {
  if (!node?.iri) return <bdi>{node?.label}</bdi>;
  return (
    <a href={thingAddress(graph, node.iri)}>
      <bdi>{node.label}</bdi>
    </a>
  );
}
