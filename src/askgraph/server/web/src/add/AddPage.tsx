// Adds a graph, from files or from an address.

import { useEffect, useId } from "preact/hooks";
import type { AddedGraphView } from "../api/types.ts";
import { knownGraphs, knownMe, knownServer, may, need } from "../app/known.ts";
import { graphBoard, Later } from "../app/Later.tsx";
import { graphAddress, navigate } from "../app/router.ts";
import { chooseGraphs } from "../ask/choices.ts";
import { formatNumber, formatPercent } from "../i18n/index.ts";
import { Button, LinkButton, ProblemNote } from "../parts/parts.tsx";
import { TabList } from "../results/controls.tsx";
import { type Adding, adding, cancel, draft, restart } from "./adding.ts";
import { AddressForm, FilesForm } from "./forms.tsx";
import { say, stageWords } from "./words.ts";

export { addDropped, trySample } from "./adding.ts";

export function AddPage() {
  const way = draft.way.value;
  const id = useId();
  useEffect(() => need(knownGraphs, knownMe, knownServer), []);
  const state = adding.value?.state;
  const isOver = state === undefined || state === "failed" || state === "cancelled";
  return (
    <div class="page stack add">
      <h1>{say.title}</h1>
      <p class="muted">{say.lead}</p>
      {!may("manage") && <p class="note warn">{say.notAllowed}</p>}
      {adding.value && <AddProgress now={adding.value} />}
      {may("manage") && isOver && (
        <>
          <TabList
            id={id}
            label={say.ways}
            tabs={[
              { name: "files", title: say.fromFiles },
              { name: "address", title: say.fromAddress },
            ]}
            chosen={way}
            onChoose={(chosen) => {
              draft.way.value = chosen;
            }}
          />
          <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${way}`}>
            {way === "files" ? <FilesForm /> : <AddressForm />}
          </div>
        </>
      )}
    </div>
  );
}

/** The progress of adding a graph, then links to it. */
function AddProgress({ now }: { now: Adding }) {
  switch (now.state) {
    case "sending":
      return <Bar name={now.name} doing={say.sending} share={now.share} />;
    case "working": {
      const { state, doing, done, total } = now.job;
      const known = doing ? stageWords(doing) : say.running;
      return (
        <Bar
          name={now.name}
          doing={state === "queued" ? say.queued : known}
          share={total ? done / total : null}
          count={!total && done > 0 ? formatNumber(done) : ""}
        />
      );
    }
    case "done":
      return (
        <>
          <Done name={now.name} added={now.added} />
          <Later load={graphBoard} props={{ graph: now.name }} />
        </>
      );
    case "cancelled":
      return (
        <p class="note" role="status">
          {say.cancelled}
        </p>
      );
    case "failed": {
      const title = now.problem.status === 0 ? now.problem.title : say.failed;
      return <ProblemNote problem={{ ...now.problem, type: "about:blank", title }} />;
    }
  }
}

interface BarProps {
  readonly name: string;
  readonly doing: string;
  /** Between 0 and 1; null if it is not known. */
  readonly share: number | null;
  readonly count?: string;
}

function Bar({ name, doing, share, count = "" }: BarProps) {
  const known = share === null ? null : Math.min(1, Math.max(0, share));
  return (
    <div class="card stack near adding">
      <h2>
        <bdi>{name}</bdi>
      </h2>
      <progress aria-label={doing} max={1} {...(known !== null && { value: known })} />
      <div class="row spread">
        <p role="status">
          {doing} <span class="muted number">{known === null ? count : formatPercent(known)}</span>
        </p>
        <Button onClick={() => void cancel()} text={say.cancel} />
      </div>
    </div>
  );
}

function Done({ name, added }: { name: string; added: AddedGraphView | null }) {
  return (
    <div class="card stack near adding" role="status">
      <h2>
        <bdi>{say.done(name)}</bdi>
      </h2>
      {added && <p class="muted">{say.counted(added.triples, added.classes, added.predicates)}</p>}
      {added?.cuts.map((cut) => (
        <p key={cut} class="muted small">
          {cut}
        </p>
      ))}
      <div class="row">
        <Button
          look="primary"
          onClick={() => {
            chooseGraphs([name]);
            restart();
            navigate("/");
          }}
          text={say.ask}
        />
        <LinkButton look="" href={graphAddress(name)} onClick={restart} text={say.browse} />
        <Button look="quiet" onClick={restart} text={say.another} />
      </div>
    </div>
  );
}
