// Facts about a thing, or facts that point at it: by predicate, the first values of each.

import { useState } from "preact/hooks";
import { resource } from "../api/graphs.ts";
import type { FactsView } from "../api/types.ts";
import { locale } from "../i18n/index.ts";
import { useAttempt } from "../parts/asking.ts";
import { ProblemNote, QuietButton } from "../parts/parts.tsx";
import { Cell } from "../results/Cell.tsx";
import { wordsOf } from "../results/columns.ts";
import { textOf } from "../results/texts.ts";
import { say } from "./words.ts";

interface Props {
  readonly facts: readonly FactsView[];
  readonly graph: string;
  readonly iri: string;
  readonly inverse?: boolean;
  readonly pictures: boolean;
}

export function FactsTable({ facts, inverse = false, ...rest }: Props) {
  return (
    <table class="facts">
      <tbody>
        {facts.map((fact) => (
          <tr key={fact.predicate.value}>
            <th scope="row">
              <bdi title={fact.predicate.value}>
                {inverse ? say.isOf(nameOf(fact)) : nameOf(fact)}
              </bdi>
            </th>
            <td>
              <Values fact={fact} inverse={inverse} {...rest} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function nameOf({ predicate }: FactsView): string {
  const name = textOf(predicate, locale.value);
  return predicate.label ? name : wordsOf(name);
}

function Values(props: Omit<Props, "facts"> & { readonly fact: FactsView }) {
  const { fact, graph, iri, inverse, pictures } = props;
  const [values, setValues] = useState(fact.values);
  const [left, setLeft] = useState(fact.total - fact.values.length);
  const [attempt, problem] = useAttempt();
  const more = () =>
    attempt(async () => {
      const predicate = fact.predicate.value;
      const found = await resource(graph, { iri, predicate, offset: values.length });
      const next = (inverse ? found.incoming : found.outgoing)[0];
      setValues([...values, ...(next?.values ?? [])]);
      setLeft(next ? next.total - values.length - next.values.length : 0);
    });
  return (
    <>
      <ul class="row loose">
        {values.map((cell) => (
          <li key={`${cell.value} ${cell.language ?? ""} ${cell.datatype ?? ""}`}>
            <Cell cell={cell} graph={graph} pictures={pictures} />
            {fact.unit && <bdi>&nbsp;{fact.unit}</bdi>}
          </li>
        ))}
      </ul>
      {left > 0 && (
        <QuietButton onClick={() => void more()}>
          {fact.at_least ? say.someMore : say.more(left)}
        </QuietButton>
      )}
      <ProblemNote problem={problem} />
    </>
  );
}
