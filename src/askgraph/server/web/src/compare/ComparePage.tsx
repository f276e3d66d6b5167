// One question, answered by several methods side by side.

import { useEffect } from "preact/hooks";
import { cancel } from "../api/ask.ts";
import type { PageProps } from "../app/App.tsx";
import { knownGraphs, knownMethods, knownServer } from "../app/known.ts";
import { navigate } from "../app/router.ts";
import type { Turn } from "../ask/conversation.ts";
import { Button, ProblemNote } from "../parts/parts.tsx";
import { groups, lettersOf } from "./agreement.ts";
import { CompareForm } from "./CompareForm.tsx";
import { begin, type Contest, entries, leave, recall } from "./contest.ts";
import { EntryCard } from "./EntryCard.tsx";
import { say } from "./words.ts";

export function ComparePage({ query }: PageProps) {
  const asked = contestOf(query);
  useEffect(() => {
    knownGraphs.need();
    knownMethods.need();
    knownServer.need();
    const runs = query.getAll("run");
    const shown = entries.value.map((turn) => turn.id.value);
    if (runs.length > 0 && runs.join() !== shown.join()) void recall(runs);
    return leave;
  }, []);
  const methods = knownMethods.value.value;
  const problem = knownMethods.problem.value ?? knownGraphs.problem.value;
  const ask = (contest: Contest) => {
    const needsModel = (name: string) =>
      methods?.methods.some((method) => method.name === name && method.needs_model) ?? false;
    begin(contest, needsModel, () => navigate(addressOf(contest), { replace: true }));
    navigate(addressOf(contest), { replace: true });
  };
  const finished = entries.value.flatMap((turn) => turn.run.value ?? []);
  const letters = lettersOf(groups(finished));
  const first = entries.value.find((turn) => turn.run.value?.answer?.sparql) ?? null;
  return (
    <div class="page stack">
      <h1>{say.title}</h1>
      <p class="muted">{say.lead}</p>
      <ProblemNote problem={problem} />
      {methods && knownGraphs.value.value && (
        <CompareForm asked={asked} methods={methods} onAsk={ask} />
      )}
      {entries.value.length > 0 && (
        <>
          <Summary turns={entries.value} />
          <div class="tiles entries">
            {entries.value.map((turn) => (
              <EntryCard
                key={turn.key}
                turn={turn}
                letter={letters.get(turn.id.value ?? "") ?? null}
                against={first === turn ? null : first}
              />
            ))}
          </div>
        </>
      )}
    </div>
  );
}

/** Returns the comparison that the address describes; missing parts are "" or empty. */
function contestOf(query: URLSearchParams): Contest {
  return {
    question: query.get("q") ?? "",
    graphs: query.getAll("graph"),
    methods: query.getAll("method"),
    model: query.get("model"),
  };
}

/** The address of a comparison, with the runs that there are: opened again it asks nothing. */
function addressOf({ question, graphs, methods, model }: Contest): string {
  const query = new URLSearchParams({ q: question });
  for (const graph of graphs) query.append("graph", graph);
  for (const method of methods) query.append("method", method);
  if (model) query.set("model", model);
  for (const { id } of entries.value) if (id.value) query.append("run", id.value);
  return `/compare?${query}`;
}

// A sentence about whether the methods agree.

function Summary({ turns }: { turns: readonly Turn[] }) {
  const running = turns.filter((turn) => turn.isRunning);
  const stopAll = () => {
    for (const { id } of running) if (id.value) void cancel(id.value).catch(() => undefined);
  };
  return (
    <div class="summary large row">
      <p role="status">{running.length > 0 ? progress(turns) : verdict(turns)}</p>
      {running.length > 0 && <Button onClick={stopAll}>{say.stopAll}</Button>}
    </div>
  );
}

function progress(turns: readonly Turn[]): string {
  return say.running(turns.filter((turn) => !turn.isRunning).length, turns.length);
}

function verdict(turns: readonly Turn[]): string {
  const found = groups(turns.flatMap((turn) => turn.run.value ?? [])).filter(
    (group) => group.answered,
  );
  const largest = found[0]?.runs.length ?? 0;
  const answered = found.reduce((sum, group) => sum + group.runs.length, 0);
  if (answered === 0) return say.noneAnswers;
  if (answered === 1) return say.oneAnswers;
  if (largest === turns.length) return say.allAgree(largest);
  return largest > 1 ? say.someAgree(largest, turns.length) : say.noneAgree;
}
