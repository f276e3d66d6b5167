// Where to go from a question that came to nothing: other words, the graph, a new question.

import { askAddress } from "../app/router.ts";
import { words } from "./words.ts";

export interface WaysOnProps {
  /** The question to put in other words; "" where it is not known. */
  readonly question: string;
  readonly graphs: readonly string[];
}

export function WaysOn({ question, graphs }: WaysOnProps) {
  const say = words();
  const [graph] = graphs;
  return (
    <p class="row ways-on">
      <a class="button small" href={question ? askAddress(question, graphs) : "/"}>
        {question ? say.otherWords : say.askQuestion}
      </a>
      <a class="button small" href={graph ? `/graphs/${encodeURIComponent(graph)}` : "/graphs"}>
        {graph ? say.whatItHolds : say.seeGraphs}
      </a>
    </p>
  );
}
