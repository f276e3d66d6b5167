// Asking, and the answers of a conversation.

import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { nextOf } from "../api/ask.ts";
import { starters } from "../api/graphs.ts";
import { adding } from "../app/drops.ts";
import { graphTitle, knownGraphs, knownMe, knownMethods, may, need } from "../app/known.ts";
import { graphBoard, Later, preload } from "../app/Later.tsx";
import { place } from "../app/router.ts";
import { onEscape } from "../app/shortcuts.ts";
import { loadRecent, recent, SideList } from "../history/SideList.tsx";
import { language } from "../i18n/index.ts";
import { useFetched } from "../parts/asking.ts";
import { Button, LinkButton, Loading, Named, Note, ProblemNote } from "../parts/parts.tsx";
import { arranging, results } from "./AnswerPart.tsx";
import { GraphChooser, MethodChooser } from "./Choosers.tsx";
import { chooseGraphs, chosenGraphs, chosenMethod, chosenModel } from "./choices.ts";
import { leave, put, show, stop, type Turn, turns } from "./conversation.ts";
import { QuestionBox } from "./QuestionBox.tsx";
import { extending } from "./ReadBack.tsx";
import { TurnView } from "./TurnView.tsx";
import { say } from "./words.ts";

/** The page of a run, or of a new conversation if there is none. */
export function AskPage({ run }: { run: string | null }) {
  useEffect(() => {
    need(knownGraphs, knownMe);
    preload(results);
    preload(arranging);
    preload(extending);
    return onEscape(() => {
      const running = turns.value.filter((turn) => turn.isRunning);
      for (const turn of running) void stop(turn);
      return running.length > 0;
    });
  }, []);
  useEffect(() => {
    if (run === null) leave();
    else void show(run);
  }, [run]);
  return run === null && turns.value.length === 0 ? <Welcome /> : <Conversation />;
}

function Welcome() {
  const { query } = place.value;
  const wanted = query.getAll("graph");
  useEffect(() => {
    if (wanted.length > 0) chooseGraphs(wanted);
  }, [query]);
  const known = knownGraphs.value.value?.map(({ name }) => name);
  const unknown = known ? wanted.filter((name) => !known.includes(name)) : [];
  const graphs = chosenGraphs.value;
  const ask = (question: string) => void askNow(question, chosenGraphs.value);
  return (
    <div class="page welcome">
      <h1>{say.welcome}</h1>
      <ProblemNote problem={knownGraphs.problem.value} again={() => void knownGraphs.load()} />
      {unknown.length > 0 && <Note look="warn" text={say.noSuchGraph(unknown.join(", "))} />}
      {known?.length === 0 ? (
        <NoGraphs />
      ) : (
        <>
          <QuestionBox
            key={query.get("q")}
            {...{ graphs, ask }}
            label={say.question}
            placeholder={say.placeholder}
            button={say.ask}
            initial={query.get("q") ?? ""}
            focused
          >
            <GraphChooser />
            <MethodChooser />
          </QuestionBox>
          <Starters {...{ graphs, ask }} />
        </>
      )}
    </div>
  );
}

/** Ways to a first graph; for those who may add one with the board of the sample. */
function NoGraphs() {
  const begin = async (next: string | null) => (await adding()).trySample(next);
  // Everything on the board leads into the sample graph, which a press adds first.
  const enter = (event: MouseEvent) => {
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link) return;
    event.preventDefault();
    void begin(link.getAttribute("href"));
  };
  return (
    <div class="stack">
      <div class="card stack">
        <h2>{say.noGraphs}</h2>
        <p class="muted">{say.noGraphsMore}</p>
        <p class="row">
          <LinkButton look="primary" href="/add" text={say.addGraph} />
          {may("manage") && (
            <Button look="" onClick={() => void begin(null)} text={say.trySample} />
          )}
        </p>
      </div>
      {knownMe.value.value && may("manage") && (
        <div class="stack" onClickCapture={enter}>
          <p class="muted">{say.sampleMore}</p>
          <Later load={graphBoard} props={{ graph: null }} />
        </div>
      )}
    </div>
  );
}

function Conversation() {
  const shown = turns.value;
  const last = shown.at(-1);
  const graphs = last && last.graphs.length > 0 ? last.graphs : chosenGraphs.value;
  const ask = (question: string) => void askNow(question, graphs);
  const problem = last?.problem.value;
  useEffect(() => {
    // Above the box, which stays at the lower edge.
    if (problem)
      document.querySelector(".turn:last-of-type .note")?.scrollIntoView({ block: "nearest" });
  }, [problem]);
  return (
    <div class="page stack conversation">
      <SideList
        shown={last?.id.value ?? null}
        changed={shown.map((turn) => `${turn.key} ${turn.isRunning}`).join()}
      />
      {shown.map((turn, at) => (
        <TurnView key={turn.key} turn={turn} isFirst={at === 0} isLast={turn === last} />
      ))}
      {last && !last.isRunning && <Next turn={last} ask={ask} />}
      {last && !last.isRunning && last.question !== "" && (
        <div class="follow-up">
          <QuestionBox
            {...{ graphs, ask }}
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

/** Loads follow-up questions to the last answer; the box works without them. */
function Next({ turn, ask }: { turn: Turn; ask: (question: string) => void }) {
  const status = turn.run.value?.answer?.status ?? "";
  const run = ["answer", "edited"].includes(status) ? turn.id.value : null;
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

async function askNow(question: string, wanted: readonly string[]): Promise<void> {
  // The person may ask before the graphs and methods have loaded.
  if (!knownGraphs.value.value || !knownMethods.value.value)
    await Promise.all([knownGraphs.ready(), knownMethods.ready()]);
  const graphs = wanted.length > 0 ? wanted : chosenGraphs.value;
  const method = chosenMethod.value && { method: chosenMethod.value.name };
  const model = chosenModel.value && { model: chosenModel.value };
  put({ question, graphs, ...method, ...model });
}

// Questions to start with, of the chosen graphs, and earlier questions.

const SHOWN = 6;

function Starters({ graphs, ask }: { graphs: readonly string[]; ask: (question: string) => void }) {
  const found = useFetched(`${language.value} ${graphs.join("\n")}`, (signal) =>
    Promise.all(graphs.map((graph) => starters(graph, signal))),
  );
  const each = Math.ceil(SHOWN / Math.max(1, graphs.length));
  // On failure the box works without them.
  const lists = (!found.problem && found.value) || [];
  const questions = lists.flatMap((list) => list.questions.slice(0, each));
  const latest = recent.value.filter((run) => run.graphs.some((name) => graphs.includes(name)));
  const hasGraphs = Boolean(knownGraphs.value.value ?? knownGraphs.problem.value);
  useEffect(() => (hasGraphs ? loadRecent() : undefined), [hasGraphs]);
  if (questions.length === 0 && (found.busy || !hasGraphs)) return <Loading />;
  return (
    <div class="tiles starters">
      <StarterList
        title={say.try}
        links={questions.map((question) => (
          <button key={question} type="button" class="starter" onClick={() => ask(question)}>
            <bdi>{question}</bdi>
          </button>
        ))}
      />
      <StarterList
        title={say.recent}
        links={latest.slice(0, 5).map(({ id, question }) => (
          <Named key={id} class="starter recent" href={`/run/${id}`}>
            {question}
          </Named>
        ))}
      />
    </div>
  );
}

function StarterList({ title, links }: { title: string; links: readonly ComponentChildren[] }) {
  if (links.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2 class="list-title faint">{title}</h2>
      <ul class="ruled">
        {links.map((link, at) => (
          <li key={at}>{link}</li>
        ))}
      </ul>
    </section>
  );
}
