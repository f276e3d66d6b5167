// The trace of an answer, step by step.

import { formatSeconds } from "../i18n/index.ts";
import { Folded } from "../parts/parts.tsx";
import { counted, gradeOf, index, mainScore, type Step, spoken } from "./data.ts";
import { type Detailed, Query, Table } from "./QuestionView.tsx";
import { ScoreTag } from "./ScoreTag.tsx";

const SHORT = 300; // characters of a text that is not folded away

export function Trace({ answer }: { answer: Detailed }) {
  const steps = answer.steps ?? [];
  const title = `${index.systems[answer.system]}: ${counted(steps.length, "step")}`;
  if (steps.length === 0) return <p class="none">{title}</p>;
  const scores = draftScores(steps, answer.drafts);
  return (
    <details class="trace" open={answer.system === 0 || gradeOf(mainScore(answer)) !== "right"}>
      <summary>{title}</summary>
      <ol class="steps">
        {steps.map((step, at) => (
          <li key={at} class={step.step in OUTCOMES ? "step outcome" : "step"}>
            <div class="kind muted small">{spoken(step.step ?? "step")}</div>
            <div>
              <StepView step={step} score={scores.get(step)} />
            </div>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** Returns the score that each draft would have had: known for the best ones, by rank. */
function draftScores(steps: readonly Step[], scores: readonly number[]): Map<Step, number> {
  const drafts = steps.filter((step) => step.step === "draft");
  drafts.sort((one, other) => Number(other["score"]) - Number(one["score"]));
  return new Map(scores.slice(0, drafts.length).map((score, at) => [drafts[at] as Step, score]));
}

const OUTCOMES: Readonly<Record<string, string>> = {
  answer: "",
  clarification: "clarification",
  refusal: "reason",
};

function StepView({ step, score }: { step: Step; score: number | undefined }) {
  switch (step.step) {
    case "findings":
      return <Findings step={step} />;
    case "draft":
      return <Draft step={step} score={score} />;
    case "thought":
      return (
        <>
          <Prose text={textIn(step, "text")} />
          <Text title="Sent to the model" text={textIn(step, "sent")} />
        </>
      );
    case "tool_use":
      return (
        <>
          <p>
            <code>{textIn(step, "tool")}</code>
            {typeof step["seconds"] === "number" && (
              <span class="muted small"> {formatSeconds(step["seconds"])}</span>
            )}
          </p>
          <pre>{argumentsOf(step["arguments"])}</pre>
          <Text title={step["failed"] ? "Failed" : "Output"} text={textIn(step, "output")} />
        </>
      );
    case "prompt":
      return (
        <>
          <p class="muted small">
            {[textIn(step, "purpose"), ...listIn<string>(step, "tools")].join(" · ")}
          </p>
          {listIn<Record<string, string>>(step, "messages").map(({ role = "", text }, at) => (
            <Text key={at} title={role} text={text ?? ""} />
          ))}
        </>
      );
    case "model_turn":
      return <ModelTurn step={step} />;
    default:
      if (step.step in OUTCOMES) return <Outcome step={step} />;
      return <pre>{JSON.stringify(step, null, 2)}</pre>;
  }
}

function Findings({ step }: { step: Step }) {
  const mentions = listIn<Record<string, string>>(step, "mentions");
  const unused = listIn<string>(step, "unused_words");
  return (
    <>
      {mentions.length > 0 && (
        <Table label="findings" head={["Words", "Kind", "Thing", "Score"]}>
          {mentions.map((mention, at) => (
            <tr key={at}>
              <td>{mention["words"]}</td>
              <td>{mention["kind"]}</td>
              <td>
                {mention["label"]} <span class="muted small broken">{mention["target"]}</span>
              </td>
              <td class="number">{Number(mention["score"]).toFixed(2)}</td>
            </tr>
          ))}
        </Table>
      )}
      {unused.length > 0 && <p class="muted small">Unused words: {unused.join(" ")}</p>}
    </>
  );
}

function Draft({ step, score }: { step: Step; score: number | undefined }) {
  const query = textIn(step, "query");
  const first = query.replace(/^(\s*PREFIX[^\n]*\n)+/i, "").slice(0, 120);
  return (
    <Folded
      title={
        <>
          <span class="rank muted">{Number(step["score"]).toFixed(3)}</span>
          {score !== undefined && <ScoreTag score={score} />} {textIn(step, "words") || first}
        </>
      }
    >
      <Query query={textIn(step, "query_laid") || query} />
    </Folded>
  );
}

function ModelTurn({ step }: { step: Step }) {
  const usage = (step["usage"] ?? {}) as Record<string, number>;
  const sent = counted(usage["input_tokens"] ?? 0, "token");
  return (
    <>
      <Text title="Reasoning" text={textIn(step, "reasoning")} />
      <Prose text={textIn(step, "text")} />
      {listIn<Record<string, string>>(step, "calls").map((call, at) => (
        <pre key={at}>
          {call["tool"]} {call["arguments"]}
        </pre>
      ))}
      <p class="muted small">
        {sent} in, {usage["cached_tokens"] ?? 0} of them cached, {usage["output_tokens"] ?? 0} out
      </p>
    </>
  );
}

function Outcome({ step }: { step: Step }) {
  const said = textIn(step, OUTCOMES[step.step] ?? "");
  const options = listIn<{ words: string; count: number }>(step, "options");
  const truncated = (step["truncated"] ?? {}) as { reason?: string };
  const notes = [
    ["Empty because", textIn(step, "why_empty")],
    ["Cut off", truncated.reason],
    ["Cut short", textIn(step, "cut_short")],
  ] as const;
  return (
    <>
      {said && <p>{said}</p>}
      {options.length > 0 && (
        <ul>
          {options.map(({ words, count }) => (
            <li key={words}>
              {words} ({counted(count, "row")})
            </li>
          ))}
        </ul>
      )}
      <Prose text={textIn(step, "words")} />
      {notes.map(
        ([before, text]) =>
          text && (
            <p key={before} class="muted small">
              {before}: {text}
            </p>
          ),
      )}
    </>
  );
}

const Prose = ({ text }: { text: string }) => (text ? <p class="prose lines">{text}</p> : null);

/** A text, folded away if it is long. */
function Text({ title, text }: { title: string; text: string }) {
  if (!text) return null;
  return (
    <Folded title={title} more={counted(text.length, "character")} open={text.length < SHORT}>
      <pre>{text}</pre>
    </Folded>
  );
}

function textIn(step: Step, name: string): string {
  const found = step[name];
  return typeof found === "string" ? found : "";
}

function listIn<T>(step: Step, name: string): readonly T[] {
  const found = step[name];
  return Array.isArray(found) ? found : [];
}

function argumentsOf(values: unknown): string {
  return Object.entries(values ?? {})
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}
