// A shared answer, for a frame of another page.

import { useEffect } from "preact/hooks";
import { contextOf, runOf } from "../api/ask.ts";
import type { PageProps } from "../app/App.tsx";
import { graphTitle, knownGraphs } from "../app/known.ts";
import { formatTime } from "../i18n/index.ts";
import { useFetched } from "../parts/asking.ts";
import { joinWithDots, ProblemNote } from "../parts/parts.tsx";
import { Result } from "./AnswerPart.tsx";
import { HeadlineView, wantsPlaces } from "./HeadlineView.tsx";

export function EmbedPage({ id }: PageProps) {
  const { value: run, problem, again } = useFetched(id, () => runOf(id));
  const { value: context } = useFetched(`${id} context`, () => contextOf(id));
  useEffect(knownGraphs.need, []);
  if (!run?.answer) return <ProblemNote {...{ problem, again }} />;
  const answer = { ...run.answer, sparql: null };
  const graph = answer.graph ?? run.graphs[0] ?? "";
  const wantsMap = answer.total > 1 && wantsPlaces(run.question);
  return (
    <main class="page stack near">
      <h1 class="turn-question" dir="auto">
        {run.question}
      </h1>
      <HeadlineView {...{ answer, graph }} />
      <Result {...{ answer, graph, wantsMap }} leftOut={context?.left_out ?? 0} runId={null} />
      <p class="small">
        <a href={`/run/${id}`}>
          {joinWithDots(graphTitle(graph), formatTime(run.created), "askgraph")}
        </a>
      </p>
    </main>
  );
}
