// Facts about a thing, or facts that point at it: by predicate, the first values of each.

import { useState } from "preact/hooks";
import { type Facts, resource } from "../api/graphs.ts";
import { language, locale } from "../i18n/index.ts";
import { useAttempt } from "../parts/asking.ts";
import { Button, ProblemNote } from "../parts/parts.tsx";
import { Cell } from "../results/Cell.tsx";
import { wordsOf } from "../results/columns.ts";
import { textOf } from "../results/texts.ts";
import { say } from "./words.ts";

interface Props {
  readonly facts: readonly Facts[];
  readonly graph: string;
  readonly iri: string;
  /** Whether these point at the thing. */
  readonly inverse?: boolean;
  readonly pictures: boolean;
}

export function FactsTable({ facts, inverse = false, ...rest }: Props) {
  const named = (text: string) => (inverse ? say.isOf(text) : text);
  return (
    <table class="facts">
      <tbody>
        {facts.map((fact) => (
          <tr key={fact.predicate.value}>
            <th scope="row">
              <bdi title={fact.predicate.value}>{named(nameOf(fact))}</bdi>
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

function nameOf({ predicate }: Facts): string {
  const name = textOf(predicate, locale.value);
  return predicate.label ? name : wordsOf(name);
}

interface ValuesProps extends Omit<Props, "facts"> {
  readonly fact: Facts;
}

function Values({ fact, graph, iri, inverse, pictures }: ValuesProps) {
  const [values, setValues] = useState(fact.values);
  const [left, setLeft] = useState(fact.total - fact.values.length);
  const [attempt, problem] = useAttempt();
  const more = () =>
    attempt(async () => {
      const wanted = {
        iri,
        language: language.value,
        predicate: fact.predicate.value,
        offset: values.length,
      };
      const found = await resource(graph, wanted);
      const next = (inverse ? found.incoming : found.outgoing)[0];
      setValues([...values, ...(next?.values ?? [])]);
      setLeft(next ? next.total - values.length - next.values.length : 0);
    });
  return (
    <>
      <ul class="fact-values row">
        {values.map((cell) => (
          <li key={`${cell.value} ${cell.language ?? ""} ${cell.datatype ?? ""}`}>
            <Cell cell={cell} graph={graph} pictures={pictures} />
            {fact.unit && <bdi>&nbsp;{fact.unit}</bdi>}
          </li>
        ))}
      </ul>
      {left > 0 && (
        <Button look="quiet small" onClick={() => void more()}>
          {fact.at_least ? say.someMore : say.more(left)}
        </Button>
      )}
      <ProblemNote problem={problem} />
    </>
  );
}
