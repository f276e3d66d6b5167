// Asking, and the answers of a conversation.

import { useEffect } from "preact/hooks";
import { nextOf } from "../api/ask.ts";
import { starters } from "../api/graphs.ts";
import { graphTitle, knownGraphs, knownMe, knownMethods } from "../app/known.ts";
import { preload } from "../app/Later.tsx";
import { navigate, place } from "../app/router.ts";
import { onEscape } from "../app/shortcuts.ts";
import { loadRecent, recent, SideList } from "../history/SideList.tsx";
import { language } from "../i18n/index.ts";
import { useFetched } from "../parts/asking.ts";
import { Named, Note, ProblemNote } from "../parts/parts.tsx";
import { arranging, results } from "./AnswerPart.tsx";
import { GraphChooser, MethodChooser } from "./Choosers.tsx";
import { chooseGraphs, chosenGraphs, chosenMethod, chosenModel } from "./choices.ts";
import { leave, put, show, stop, type Turn, turns } from "./conversation.ts";
import { QuestionBox } from "./QuestionBox.tsx";
import { TurnView } from "./TurnView.tsx";
import { say } from "./words.ts";

interface AskPageProps {
  /** The run that the address names; null for a new conversation. */
  readonly run: string | null;
}

export function AskPage({ run }: AskPageProps) {
  useEffect(() => {
    knownGraphs.need();
    knownMethods.need();
    knownMe.need();
    preload(results);
    preload(arranging);
    return onEscape(stopRunning);
  }, []);
  useEffect(() => {
    if (run === null) leave();
    else void show(run);
  }, [run]);
  if (run === null && turns.value.length === 0) return <Welcome />;
  return <Conversation />;
}

function Welcome() {
  const { query, state } = place.value;
  const wanted = query.getAll("graph");
  useEffect(() => {
    if (wanted.length > 0) chooseGraphs(wanted);
    const asked = query.get("q");
    if (asked && state["ask"] === true) void askNow(asked, wanted);
  }, [query]);
  const problem = knownGraphs.problem.value;
  const known = knownGraphs.value.value?.map(({ name }) => name);
  const unknown = known ? wanted.filter((name) => !known.includes(name)) : [];
  const isBare = knownGraphs.value.value?.length === 0;
  return (
    <div class="page welcome">
      <h1>{say.welcome}</h1>
      <ProblemNote problem={problem} again={() => void knownGraphs.load()} />
      {unknown.length > 0 && <Note look="warn" text={say.noSuchGraph(unknown.join(", "))} />}
      {isBare ? (
        <NoGraphs />
      ) : (
        <>
          <QuestionBox
            graphs={chosenGraphs.value}
            ask={(question) => void askNow(question, chosenGraphs.value)}
            label={say.question}
            placeholder={say.placeholder}
            button={say.ask}
            initial={query.get("q") ?? ""}
            focused
          >
            <GraphChooser />
            <MethodChooser />
          </QuestionBox>
          <Starters
            graphs={chosenGraphs.value}
            ask={(question) => void askNow(question, chosenGraphs.value)}
          />
        </>
      )}
    </div>
  );
}

function NoGraphs() {
  return (
    <div class="card stack">
      <h2>{say.noGraphs}</h2>
      <p class="muted">{say.noGraphsMore}</p>
      <p>
        <a class="button primary" href="/add">
          {say.addGraph}
        </a>
      </p>
    </div>
  );
}

function Conversation() {
  const shown = turns.value;
  const last = shown[shown.length - 1];
  const graphs = last && last.graphs.length > 0 ? last.graphs : chosenGraphs.value;
  return (
    <div class="page conversation">
      <SideList shown={last?.id.value ?? null} changed={shown.map(stateOf).join()} />
      {shown.map((turn, at) => (
        <TurnView key={turn.key} turn={turn} isFirst={at === 0} isLast={turn === last} />
      ))}
      {last && !last.isRunning && (
        <Next turn={last} ask={(question) => void askNow(question, graphs)} />
      )}
      {last && !last.isRunning && last.question !== "" && (
        <div class="follow-up">
          <QuestionBox
            graphs={graphs}
            ask={(question) => void askNow(question, graphs)}
            label={say.askOn}
            placeholder={say.followUp}
            button={say.askOn}
          >
            <span class="muted small">
              <bdi>{graphs.map(graphTitle).join(", ")}</bdi>
            </span>
            <MethodChooser />
          </QuestionBox>
        </div>
      )}
    </div>
  );
}

/** Questions that may follow the last answer; the box works without them. */
function Next({ turn, ask }: { turn: Turn; ask: (question: string) => void }) {
  const answer = turn.run.value?.answer;
  const run = answer?.status === "answer" || answer?.status === "edited" ? turn.id.value : null;
  const found = useFetched(`${run}`, async () => (run === null ? null : nextOf(run)));
  const questions = found.busy || found.problem ? [] : (found.value?.questions ?? []);
  if (questions.length === 0) return null;
  return (
    <section class="next" aria-label={say.next}>
      <h2>{say.next}</h2>
      <ul class="row">
        {questions.map((question) => (
          <li key={question}>
            <button type="button" class="button small" onClick={() => ask(question)}>
              <bdi>{question}</bdi>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function stateOf(turn: Turn): string {
  return `${turn.key} ${turn.isRunning}`;
}

async function askNow(question: string, wanted: readonly string[]): Promise<void> {
  // A quick person asks before the graphs and methods are known.
  if (!knownGraphs.value.value || !knownMethods.value.value) {
    await Promise.all([knownGraphs.ready(), knownMethods.ready()]);
  }
  const graphs = wanted.length > 0 ? wanted : chosenGraphs.value;
  const model = chosenModel.value;
  put(
    {
      question,
      graphs,
      ...(chosenMethod.value ? { method: chosenMethod.value.name } : {}),
      ...(model ? { model } : {}),
    },
    (run) => {
      const replace = place.value.state["ask"] === true;
      navigate(`/run/${run}`, { replace, stay: turns.value.length > 1 || replace });
    },
  );
}

function stopRunning(): boolean {
  const running = turns.value.filter((turn) => turn.isRunning);
  for (const turn of running) void stop(turn);
  return running.length > 0;
}

// Questions to start with, of the chosen graphs, and earlier questions.

const SHOWN = 6;

function Starters({ graphs, ask }: { graphs: readonly string[]; ask: (question: string) => void }) {
  const questions = useStarters(graphs);
  useEffect(loadRecent, []);
  return (
    <div class="starters">
      {questions.length > 0 && (
        <section aria-label={say.try}>
          <h2>{say.try}</h2>
          <ul>
            {questions.map((question) => (
              <li key={question}>
                <button type="button" class="starter" onClick={() => ask(question)}>
                  <bdi>{question}</bdi>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {recent.value.length > 0 && (
        <section aria-label={say.recent}>
          <h2>{say.recent}</h2>
          <ul>
            {recent.value.slice(0, 5).map((run) => (
              <li key={run.id}>
                <Named class="starter recent" href={`/run/${run.id}`}>
                  {run.question}
                </Named>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function useStarters(graphs: readonly string[]): readonly string[] {
  const each = Math.ceil(SHOWN / Math.max(1, graphs.length));
  const found = useFetched(`${language.value} ${graphs.join("\n")}`, (signal) =>
    Promise.all(graphs.map((graph) => starters(graph, language.value, { signal }))),
  );
  if (found.problem || !found.value) return []; // the box works without them
  return found.value.flatMap((list) => list.questions.slice(0, each));
}
