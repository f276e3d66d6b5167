// The card of a thing: its kind, a description and its first facts.

import { resource } from "../api/graphs.ts";
import { thingAddress } from "../app/router.ts";
import { language } from "../i18n/index.ts";
import { useFetched } from "../parts/asking.ts";
import { LinkButton, ProblemNote } from "../parts/parts.tsx";
import { Cell } from "./Cell.tsx";
import { TYPE } from "./evidence.ts";
import { stripControls, textOf } from "./texts.ts";
import { say } from "./words.ts";

const FACTS = 8;
const VALUES = 3;
const NAMES = /[/#](label|prefLabel|altLabel|name|comment|description)$/;

interface ThingCardProps {
  readonly iri: string;
  readonly graph: string;
  readonly pictures: boolean;
}

export function ThingCard({ iri, graph, pictures }: ThingCardProps) {
  const spoken = language.value;
  const { value, problem, again } = useFetched(`${graph} ${iri} ${spoken}`, (signal) =>
    resource(graph, { iri }, signal),
  );
  if (problem) return <ProblemNote problem={problem} again={again} />;
  if (!value) return <p class="muted small later">{say.loading}</p>;
  const facts = value.outgoing.filter(
    ({ predicate }) => predicate.value !== TYPE && !NAMES.test(predicate.value),
  );
  const kinds = value.types.map((type) => textOf(type, spoken)).join(", ");
  return (
    <div class="thing-card sheet stack near" role="group" aria-label={stripControls(value.label)}>
      <p class="stack tight">
        <strong>{stripControls(value.label)}</strong>
        <bdi class="muted">{kinds}</bdi>
        {value.description && <bdi>{stripControls(value.description)}</bdi>}
      </p>
      <dl class="tiles">
        {facts.slice(0, FACTS).map(({ predicate, unit, values, total, at_least }) => (
          <div key={predicate.value}>
            <dt class="faint">
              <bdi data-iri={predicate.value}>{textOf(predicate, spoken)}</bdi>
            </dt>
            <dd class="row">
              {values.slice(0, VALUES).map((cell) => (
                <span key={cell.value}>
                  <Cell {...{ cell, graph, pictures }} />
                  {unit && <bdi>&nbsp;{unit}</bdi>}
                </span>
              ))}
              {(total > VALUES || at_least) && <span class="muted small">…</span>}
            </dd>
          </div>
        ))}
      </dl>
      <p>
        <LinkButton href={thingAddress(graph, iri)} text={say.more} />
      </p>
    </div>
  );
}
