// The way from all graphs to the place that is shown.

import { graphTitle } from "../app/known.ts";
import { words } from "./words.ts";

interface Props {
  readonly graph: string;
  /** What is shown of the graph; nothing for the graph itself. */
  readonly place?: string;
}

export function Path({ graph, place }: Props) {
  const say = words();
  return (
    <nav class="path" aria-label={say.path}>
      <ol>
        <li>
          <a href="/graphs">{say.graphs}</a>
        </li>
        {place !== undefined && (
          <li>
            <a href={`/graphs/${encodeURIComponent(graph)}`}>
              <bdi>{graphTitle(graph)}</bdi>
            </a>
          </li>
        )}
        <li aria-current="page">
          <bdi>{place ?? graphTitle(graph)}</bdi>
        </li>
      </ol>
    </nav>
  );
}
