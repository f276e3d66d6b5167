// The caller's questions so far, to search, open and delete.

import { useEffect, useState } from "preact/hooks";
import { forget, forgetAll, runs } from "../api/ask.ts";
import type { RunSummary } from "../api/types.ts";
import type { PageProps } from "../app/App.tsx";
import { graphTitle, knownGraphs } from "../app/known.ts";
import { locale } from "../i18n/index.ts";
import { useAttempt } from "../parts/asking.ts";
import { methodTitle } from "../parts/methods.ts";
import {
  Button,
  joinWithDots,
  Loading,
  ProblemNote,
  SearchField,
  SureDialog,
} from "../parts/parts.tsx";
import { say } from "./words.ts";

const PAUSE = 180;
const PAGE = 50;

export function HistoryPage({ query }: PageProps) {
  const [search, setSearch] = useState(query.get("search") ?? "");
  const { found, more, problem, load, drop } = useHistory(search.trim());
  const [isAsking, askToForget] = useState(false);
  useEffect(knownGraphs.need, []);
  return (
    <div class="page stack">
      <h1>{say.title}</h1>
      <SearchField class="narrow" label={say.search} value={search} onText={setSearch} />
      <ProblemNote problem={problem} again={() => void load(false)} />
      {!found && !problem && <Loading />}
      {found?.length === 0 && (
        <p class="muted">
          {search.trim() ? say.nothingFound : say.nothing}{" "}
          {!search.trim() && <a href="/">{say.ask}</a>}
        </p>
      )}
      {byDay(found ?? []).map(([day, list]) => (
        <section key={day}>
          <h2 class="list-title faint">{dayWords(day)}</h2>
          <ul class="history-list ruled">
            {list.map((run) => (
              <HistoryRow key={run.id} run={run} drop={() => void drop(run.id)} />
            ))}
          </ul>
        </section>
      ))}
      <div class="row">
        {more && <Button look="" onClick={() => void load(true)} text={say.more} />}
        {found && found.length > 0 && (
          <Button look="quiet small at-end" icon="bin" onClick={() => askToForget(true)}>
            {say.forgetAll}
          </Button>
        )}
      </div>
      {isAsking && (
        <SureDialog
          title={say.forgetAll}
          close={() => askToForget(false)}
          go={() => void drop(null)}
        >
          <p>{say.sure}</p>
        </SureDialog>
      )}
    </div>
  );
}

function HistoryRow({ run, drop }: { run: RunSummary; drop: () => void }) {
  const time = new Date(run.created).toLocaleTimeString(locale.value, { timeStyle: "short" });
  const about = [
    run.changed_from ? say.changedFrom(run.changed_from) : run.changes && say.changed,
    run.follows && say.follows(run.follows),
    time,
    run.graphs.map(graphTitle).join(", "),
    methodTitle(run.method),
  ];
  return (
    <li class="row nowrap">
      <a class="grow" href={`/run/${run.id}`}>
        <bdi class="history-question broken">{run.question}</bdi>
        <span class="faint">{joinWithDots(...about, stateWords(run))}</span>
      </a>
      <Button
        look="quiet icon small"
        icon="bin"
        aria-label={say.forgetOne(run.question)}
        title={say.forget}
        onClick={drop}
      />
    </li>
  );
}

function useHistory(search: string) {
  const [found, setFound] = useState<readonly RunSummary[] | null>(null);
  const [more, setMore] = useState(false);
  const [attempt, problem] = useAttempt();
  const load = (older: boolean) =>
    attempt(async () => {
      const last = older ? found?.at(-1)?.created : undefined;
      const page = await runs({ search, limit: PAGE, ...(last ? { before: last } : {}) });
      setFound(older ? [...(found ?? []), ...page.runs] : page.runs);
      setMore(page.more);
    });
  const drop = (id: string | null) =>
    attempt(async () => {
      await (id === null ? forgetAll() : forget(id));
      setFound(id === null ? [] : (found ?? []).filter((run) => run.id !== id));
      if (id === null) setMore(false);
    });
  useEffect(() => {
    const timer = setTimeout(() => void load(false), found === null ? 0 : PAUSE);
    return () => clearTimeout(timer);
  }, [search]);
  return { found, more, problem, load, drop };
}

function dayWords(day: string): string {
  const ago = daysAgo(day, new Date());
  if (ago === 0) return say.today;
  if (ago === 1) return say.yesterday;
  const local = new Date(`${day}T12:00:00`);
  return local.toLocaleDateString(locale.value, { dateStyle: "full" });
}

/** Returns the outcome of a run in a word. */
function stateWords({ state, status }: RunSummary): string {
  const outcomes = { clarification: 1, refusal: 2 } as Readonly<Record<string, number>>;
  const others = { failed: 3, cancelled: 4, handed_back: 4 } as Readonly<Record<string, number>>;
  const at = state === "done" ? (outcomes[status ?? ""] ?? 0) : (others[state] ?? 5);
  return say.states[at] ?? "";
}

// The history by days.

/** Runs, the latest first, by their local days, as `2026-11-22`. */
export function byDay(runs: readonly RunSummary[]): [day: string, runs: RunSummary[]][] {
  const days = new Map<string, RunSummary[]>();
  for (const run of runs) {
    const day = dayOf(new Date(run.created));
    days.set(day, [...(days.get(day) ?? []), run]);
  }
  return [...days];
}

/** How many days ago a day was, seen from a moment. */
export function daysAgo(day: string, now: Date): number {
  const [from, to] = [day, dayOf(now)].map((one) => Date.parse(`${one}T00:00:00Z`));
  return Math.round(((to ?? 0) - (from ?? 0)) / 86_400_000);
}

function dayOf(moment: Date): string {
  return moment.toLocaleDateString("sv"); // the Swedish locale formats days as ISO 8601
}
