// One graph: its description, questions to ask, its classes and predicates.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api/graphs.ts";
import type { GraphSummary, VerifiedAnswerView } from "../api/types.ts";
import { knownMe, may, mayWithdraw } from "../app/known.ts";
import { graphBoard, Later } from "../app/Later.tsx";
import { askAddress, classAddress, propertyAddress, thingAddress } from "../app/router.ts";
import { formatTime, language, named } from "../i18n/index.ts";
import { useAttempt, useFetched, useSought } from "../parts/asking.ts";
import {
  Facts,
  joinWithDots,
  LinkButton,
  Named,
  ProblemNote,
  QuietButton,
  SearchField,
} from "../parts/parts.tsx";
import { TaughtWords } from "../teach/TaughtWords.tsx";
import { ClassPicture } from "./ClassPicture.tsx";
import { Counts } from "./GraphList.tsx";
import { rankHits, TermList } from "./TermList.tsx";
import { Path } from "./TermPages.tsx";
import { say } from "./words.ts";

export function GraphPage({ graph }: { graph: string }) {
  const tongue = language.value;
  const about = useFetched(`${graph} ${tongue}`, (signal) => api.graphOf(graph, signal));
  const holds = useFetched(`${graph} ${tongue}`, (signal) => api.profile(graph, "", signal));
  const known = about.value;
  return (
    <div class="page stack browse">
      <Path graph={graph} />
      <div class="row spread">
        <h1>
          <bdi>{known?.title || graph}</bdi>
        </h1>
        <LinkButton look="primary" href={askAddress("", [graph])} text={say.askIt} />
      </div>
      <ProblemNote problem={about.problem} again={about.again} />
      {known?.description && (
        <p class="lead large measure" dir="auto">
          {known.description}
        </p>
      )}
      {known && (
        <>
          <Counts graph={known} />
          <About graph={known} created={holds.value?.created ?? ""} />
          <SearchBox graph={graph} />
          <Later load={graphBoard} props={{ graph }} />
          <ClassPicture graph={graph} />
          <VerifiedList graph={graph} />
          <TaughtWords graph={graph} />
        </>
      )}
      {holds.problem && !about.problem && (
        <ProblemNote problem={holds.problem} again={holds.again} />
      )}
      {holds.busy && !holds.value && <p class="muted">{say.loading}</p>}
      {holds.value && (
        <div class="tiles term-lists">
          <TermList kind="classes" graph={graph} holds={holds.value} />
          <TermList kind="predicates" graph={graph} holds={holds.value} />
        </div>
      )}
    </div>
  );
}

function About({ graph, created }: { graph: GraphSummary; created: string }) {
  const facts = [
    [say.source, graph.source],
    [say.license, graph.license],
    [say.lastBuilt, created && formatTime(created)],
  ].filter(([, value]) => value);
  const shown = facts.map(([name, value]) => [name, <bdi key={name}>{value}</bdi>] as const);
  return <Facts class="facts-row row" facts={shown} />;
}

// Finds things, classes and properties of a graph by name while the person types.

const MOST = 20;
const KINDS = ["entity", "class", "property"];
const ADDRESSES = { entity: thingAddress, class: classAddress, property: propertyAddress };

function SearchBox({ graph }: { graph: string }) {
  const [text, setText] = useState("");
  const key = `${graph} ${language.value}`;
  const found = useSought(
    text,
    key,
    async (q, signal) => rankHits((await api.search(graph, { q, limit: MOST }, signal)).hits),
    1,
  );
  return (
    <search class="stack close measure">
      <SearchField
        label={say.search}
        value={text}
        onText={setText}
        input={{
          dir: "auto",
          autocomplete: "off",
          placeholder: named(say.search, say.searchHint),
        }}
      />
      <ProblemNote problem={found.problem} />
      <div role="status">
        {found.value?.length === 0 && !found.busy && <p class="muted small">{say.nothingFound}</p>}
      </div>
      {found.value && found.value.length > 0 && (
        <ul class="hits sheet" aria-label={say.searchResults}>
          {found.value.map(({ kind, iri, label, description }) => (
            <li key={`${kind} ${iri}`}>
              <a class="hit row" href={ADDRESSES[kind](graph, iri)}>
                <bdi>{label}</bdi>
                <span class="chip">{say.kinds[KINDS.indexOf(kind)] ?? kind}</span>
                {description && <bdi class="muted small clip">{description}</bdi>}
              </a>
            </li>
          ))}
        </ul>
      )}
    </search>
  );
}

// The verified answers of a graph, which can be withdrawn.

/** The list; empty if the caller may not confirm answers, or none was confirmed. */
function VerifiedList({ graph }: { graph: string }) {
  useEffect(knownMe.need, []);
  const mayConfirm = knownMe.value.value !== null && may("confirm");
  const [attempt, problem] = useAttempt();
  const { value, again } = useFetched(`${graph} ${mayConfirm}`, async (signal) =>
    mayConfirm ? api.verifiedOf(graph, signal) : null,
  );
  const take = (doing: Promise<unknown>) =>
    attempt(async () => {
      await doing;
      again();
    });
  if (!value || (value.verified.length === 0 && !problem)) return null;
  return (
    <section class="verified">
      <h2 class="section-title">{say.verified}</h2>
      <p class="muted small">{say.verifiedMore}</p>
      <ul class="verified-list ruled">
        {value.verified.map((one) => (
          <li key={one.id} class="row spread">
            <span>
              <Named href={one.mine && one.run ? `/run/${one.run}` : null}>{one.question}</Named>{" "}
              <span class="muted small">
                {joinWithDots(formatTime(one.when), !one.mine && one.by, standingOf(one))}
              </span>
            </span>
            <span class="row">
              {(one.mine || one.disputed ? [] : (["right", "wrong"] as const)).map((verdict) => (
                <QuietButton
                  key={verdict}
                  aria-label={(verdict === "right" ? say.confirmOne : say.disputeOne)(one.question)}
                  onClick={() => void take(api.judgeVerified(graph, one.id, verdict))}
                  text={verdict === "right" ? say.confirm : say.dispute}
                />
              ))}
              {mayWithdraw(one) && (
                <QuietButton
                  aria-label={say.withdrawOne(one.question)}
                  onClick={() => void take(api.withdrawVerified(graph, one.id))}
                  text={say.withdraw}
                />
              )}
            </span>
          </li>
        ))}
      </ul>
      <ProblemNote problem={problem} />
    </section>
  );
}

/** Who gets a verified answer. */
function standingOf({ disputed, disputes, shared, confirmations }: VerifiedAnswerView): string {
  if (disputed) return say.disputed;
  return joinWithDots(
    say.confirmedBy(confirmations),
    disputes > 0 && say.disputedBy(disputes),
    shared ? say.forAll : say.notForAll,
  );
}
