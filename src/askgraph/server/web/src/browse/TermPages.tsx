// The pages of the terms of a graph: a thing, a class, a predicate.

import type { ComponentChildren, ComponentProps } from "preact";
import { useMemo, useState } from "preact/hooks";
import { instances, profile, resource } from "../api/graphs.ts";
import type { EndView, ResourceView } from "../api/types.ts";
import { graphTitle, knownGraphs, knownServer, may } from "../app/known.ts";
import { Later } from "../app/Later.tsx";
import { askAddress, classAddress, graphAddress, propertyAddress } from "../app/router.ts";
import { formatNumber, language, locale } from "../i18n/index.ts";
import { type Fetched, useFetched } from "../parts/asking.ts";
import { Facts, IriTools, LinkButton, Named, OUTSIDE, ProblemNote } from "../parts/parts.tsx";
import { Cell, LongText } from "../results/Cell.tsx";
import { columnsOf, type Pin, pinsOf } from "../results/columns.ts";
import { Pager } from "../results/controls.tsx";
import { drawAround, joinDrawings } from "../results/evidence.ts";
import { shortName, stripControls, textOf } from "../results/texts.ts";
import { linkOf, pictureOf } from "../results/values.ts";
import { FactsTable } from "./FactsTable.tsx";
import { say } from "./words.ts";

const PAGE = 60;

const map = () => import("../results/MapView.tsx").then((found) => found.MapView);
const timeline = () => import("./Timeline.tsx").then((found) => found.Timeline);
const graphDrawing = () => import("../results/GraphView.tsx").then((found) => found.GraphView);

interface Term {
  readonly graph: string;
  readonly iri: string;
}

/** A thing: its name and kind, the facts about it and those that point at it. */
export function ThingPage({ graph, iri }: Term) {
  const [drawn, setDrawn] = useState(false);
  const about = useAbout(graph, iri);
  const { value } = about;
  const label = stripControls(value?.label ?? shortName(iri));
  const { images, tiles = "" } = knownServer.value.value ?? {};
  const pictures = images === true;
  const cells = value?.outgoing.flatMap(({ values }) => values) ?? [];
  const picture = cells.map((cell) => pictureOf(cell)).find((address) => address !== null);
  const drawing = useMemo(
    () => (value ? drawAround(value, locale.value) : joinDrawings([])),
    [value, locale.value],
  );
  const isHere = knownGraphs.value.value?.find(({ name }) => name === graph)?.remote === false;
  const pins = useMemo(() => (value ? placesIn(value) : []), [value]);
  const isKnown = value !== null && value.outgoing.length + value.incoming.length > 0;
  return (
    <TermPage {...{ graph, iri, label, about, pictures }}>
      {value && !isKnown && <p class="note">{say.noFacts}</p>}
      {picture && !pictures && (
        <p>
          <a href={picture} {...OUTSIDE}>
            {say.picture(label)}
          </a>
        </p>
      )}
      {pictures && picture && (
        <img
          class="thing-picture"
          src={picture}
          alt={say.picture(label)}
          referrerpolicy="no-referrer"
        />
      )}
      <Outgoing {...{ graph, iri, about, pictures }} />
      {pins.length > 0 && (
        <div class="measure">
          <Later load={map} props={{ pins, graph, elsewhere: 0, tiles, about: [label] }} />
        </div>
      )}
      {isKnown && isHere && may("query") && (
        <Later isQuiet load={timeline} props={{ graph, iri }} />
      )}
      {value && value.incoming.length > 0 && (
        <Section title={say.pointing}>
          <FactsTable facts={value.incoming} inverse {...{ graph, iri, pictures }} />
        </Section>
      )}
      {isKnown && (
        <details onToggle={(event) => setDrawn(event.currentTarget.open)}>
          <summary class="section-title large">{say.drawing}</summary>
          {drawn && <Later load={graphDrawing} props={{ drawing, graph }} />}
        </details>
      )}
    </TermPage>
  );
}

/** Returns where a thing lies by its own facts: a point, or degrees of latitude and longitude. */
function placesIn({ label, outgoing }: ResourceView): Pin[] {
  const names = outgoing.map(({ predicate }) => textOf(predicate, locale.value));
  const rows = [outgoing.map(({ values }) => values[0] ?? null)];
  const pins = pinsOf(columnsOf(names, rows, []), rows, locale.value);
  return pins.map((pin) => ({ ...pin, name: stripControls(label), iri: null }));
}

/** A class: what it is, and its instances in pages. */
export function ClassPage({ graph, iri }: Term) {
  const [page, setPage] = useState(0);
  const about = useAbout(graph, iri);
  const found = useFetched(`${iri} ${page} ${language.value}`, (signal) =>
    instances(graph, { class: iri, offset: page * PAGE, limit: PAGE }, signal),
  );
  const holds = useFetched(`${graph} ${language.value}`, (signal) => profile(graph, "", signal));
  const used = (holds.value?.predicates ?? []).flatMap((predicate) => {
    const end = predicate.subject_classes.find((one) => one.iri === iri);
    return end ? [{ ...predicate, count: end.count }] : [];
  });
  const label = stripControls(about.value?.label ?? shortName(iri));
  const total = found.value?.total ?? 0;
  return (
    <TermPage {...{ graph, iri, label, about }} kind={say.aClass}>
      <Section
        title={say.instancesOf(label)}
        more={found.value && (found.value.at_least ? say.atLeast(total) : say.instances(total))}
      >
        <ProblemNote problem={found.problem} again={found.again} />
        {found.value && total === 0 && <p class="muted">{say.noInstances}</p>}
        <ul class="instances newspaper" aria-busy={found.busy}>
          {found.value?.instances.map((cell) => (
            <li key={cell.value}>
              <Cell cell={cell} graph={graph} />
            </li>
          ))}
        </ul>
        {total > PAGE && <Pager page={page} pages={Math.ceil(total / PAGE)} onPage={setPage} />}
      </Section>
      <Ends title={say.usedWith} ends={used} address={(one) => propertyAddress(graph, one)} />
      <Outgoing {...{ graph, iri, about }} />
    </TermPage>
  );
}

/** A predicate: its meaning, its subjects and its objects. */
export function PropertyPage({ graph, iri }: Term) {
  const about = useAbout(graph, iri);
  const holds = useFetched(`${iri} ${language.value}`, (signal) => profile(graph, iri, signal));
  const used = holds.value?.predicates.find((predicate) => predicate.iri === iri) ?? null;
  const label = stripControls(used?.label ?? about.value?.label ?? shortName(iri));
  const classOf = (one: string) => classAddress(graph, one);
  return (
    <TermPage {...{ graph, iri, label, about }} kind={say.aProperty} problem={holds.problem}>
      {used && (
        <>
          <Facts
            class="facts-row row number"
            facts={[
              [say.uses, formatNumber(used.triples)],
              [say.subjects, formatNumber(used.subjects)],
              [say.objects, formatNumber(used.objects)],
            ]}
          />
          <Ends title={say.usedOn} ends={used.subject_classes} address={classOf} />
          <Ends title={say.pointsAt} ends={used.object_classes} address={classOf} />
          <Ends title={say.datatypes} ends={used.datatypes} />
        </>
      )}
      <Outgoing {...{ graph, iri, about }} />
    </TermPage>
  );
}

function useAbout(graph: string, iri: string): Fetched<ResourceView> {
  return useFetched(`${iri} ${language.value}`, (signal) => resource(graph, { iri }, signal));
}

interface TermPageProps extends Term {
  readonly label: string;
  /** Whether it is a class or a property; a thing has its classes instead. */
  readonly kind?: string;
  readonly about: Fetched<ResourceView>;
  readonly problem?: Fetched<unknown>["problem"];
  readonly children: ComponentChildren;
}

/** The frame of these pages: the name, a link to ask about it, its description and its IRI. */
function TermPage({ graph, iri, label, kind, about, problem, children }: TermPageProps) {
  const { value } = about;
  return (
    <div class="page stack browse">
      <Path graph={graph} place={label} />
      <div class="row spread">
        <h1>
          <bdi class="broken">{label}</bdi> {kind && <span class="chip">{kind}</span>}
        </h1>
        <LinkButton look="primary" href={askAddress(label, [graph])} text={say.askAbout(label)} />
      </div>
      {!kind && value && value.types.length > 0 && (
        <ul class="row">
          {value.types.map((type) => (
            <li key={type.value}>
              <Named class="chip" href={classAddress(graph, type.value)}>
                {textOf(type, locale.value)}
              </Named>
            </li>
          ))}
        </ul>
      )}
      {value?.description && (
        <div class="lead large measure broken" dir="auto">
          <LongText text={stripControls(value.description)} />
        </div>
      )}
      <p class="row">
        <bdi class="iri muted">{stripControls(iri)}</bdi>
        <IriTools iri={iri} link={linkOf(iri)} />
      </p>
      <ProblemNote problem={about.problem ?? problem ?? null} again={about.again} />
      {about.busy && !value && <p class="muted">{say.loading}</p>}
      {children}
    </div>
  );
}

function Outgoing({ about, ...rest }: Term & { about: Fetched<ResourceView>; pictures?: boolean }) {
  if (!about.value || about.value.outgoing.length === 0) return null;
  return (
    <Section title={say.facts}>
      <FactsTable facts={about.value.outgoing} pictures={false} {...rest} />
    </Section>
  );
}

interface EndsProps {
  readonly title: string;
  readonly ends: readonly EndView[];
  /** The target of a term's link, if there is one. */
  readonly address?: (iri: string) => string;
}

/** Terms with how often they occur, in a row of links. */
function Ends({ title, ends, address }: EndsProps) {
  if (ends.length === 0) return null;
  return (
    <Section title={title}>
      <ul class="ends row loose">
        {ends.map(({ iri, label, count }) => (
          <li key={iri} title={iri}>
            <Named href={address?.(iri)}>{stripControls(label)}</Named>{" "}
            <span class="muted small number">{formatNumber(count)}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Section({ title, more, children }: ComponentProps<"section"> & { more?: string | null }) {
  return (
    <section>
      <h2 class="section-title">
        {title} {more !== undefined && <span class="muted">{more}</span>}
      </h2>
      {children}
    </section>
  );
}

/** The way from all graphs to the place that is shown; without `place`, to the graph itself. */
export function Path({ graph, place }: { graph: string; place?: string }) {
  return (
    <nav aria-label={say.path}>
      <ol class="path row muted small">
        <li>
          <a href="/graphs">{say.graphs}</a>
        </li>
        {place !== undefined && (
          <li>
            <Named href={graphAddress(graph)}>{graphTitle(graph)}</Named>
          </li>
        )}
        <li aria-current="page">
          <bdi>{place ?? graphTitle(graph)}</bdi>
        </li>
      </ol>
    </nav>
  );
}
