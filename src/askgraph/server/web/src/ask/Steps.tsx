// The steps of a run, collapsed at first.

import { stepsOf } from "../api/ask.ts";
import type { RunView, Step, UsageView } from "../api/types.ts";
import { formatSeconds, named, texts } from "../i18n/index.ts";
import { useAttempt, useFetched } from "../parts/asking.ts";
import { Fold, Folded, joinWithDots, ProblemNote } from "../parts/parts.tsx";
import type { Turn } from "./conversation.ts";
import type { Draft, Reader } from "./reading.ts";
import { say } from "./words.ts";

interface StepsProps {
  readonly steps: readonly Step[];
  readonly isRunning?: boolean;
  readonly seconds?: number | null;
  readonly usage?: UsageView | undefined;
  /** Reads queries back once the steps are opened; without it, only their own words are shown. */
  readonly read?: Reader;
}

export function Steps({ steps, isRunning = false, seconds = null, usage, read }: StepsProps) {
  if (steps.length === 0) return null;
  const { requests = 0, llm_calls: calls = 0, input_tokens = 0, output_tokens = 0 } = usage ?? {};
  const counts = joinWithDots(
    say.steps(steps.length),
    seconds !== null && formatSeconds(seconds),
    requests > 0 && say.requests(requests),
    calls > 0 && say.calls(calls),
    calls > 0 && say.tokens(input_tokens + output_tokens),
    usage && usage.money > 0 && usage.money.toFixed(4),
  );
  return (
    <Fold class={isRunning ? "steps running" : "steps"} title={say.stepsOf} more={counts}>
      {() => (
        <ol class="step-list stack tight">
          {steps.map((step, at) => (
            <li key={at} class={`step step-${step.step}`}>
              <StepView step={step} read={read} />
            </li>
          ))}
        </ol>
      )}
    </Fold>
  );
}

function StepView({ step, read }: { step: Step; read: Reader | undefined }) {
  switch (step.step) {
    case "findings":
      return <FindingsStep step={step} />;
    case "draft":
      return <DraftStep step={step} read={read} />;
    case "tool_use": {
      const { rows } = step.observation;
      const size = typeof rows === "number" && stepSay.rows(rows);
      return (
        <Folded title={stepTitle(step)} more={joinWithDots(size, formatSeconds(step.seconds))}>
          <pre>{JSON.stringify(step.arguments, null, 1)}</pre>
          <p class="muted small">{stepSay.shown}</p>
          <pre>{step.observation.text}</pre>
        </Folded>
      );
    }
    case "model_turn":
      return (
        <Folded title={stepTitle(step)} more={step.model}>
          {step.choice.text && <p class="step-text lines">{step.choice.text}</p>}
          {(step.choice.calls?.length ?? 0) > 0 && (
            <pre>{JSON.stringify(step.choice.calls, null, 1)}</pre>
          )}
        </Folded>
      );
    case "prompt":
      return (
        <Folded title={stepTitle(step)} more={stepSay.messages(step.messages.length)}>
          <pre>{step.messages.map(messageText).join("\n\n")}</pre>
        </Folded>
      );
    case "thought":
      if (!step.sent) return <p class="step-text lines">{step.text}</p>;
      return (
        <Folded title={stepTitle(step)} more={stepSay.sent}>
          <pre>{step.sent}</pre>
        </Folded>
      );
    default:
      return null;
  }
}

function DraftStep({ step, read }: { step: Draft; read: Reader | undefined }) {
  const words = useFetched(`${!read} ${step.query}`, async () => step.words || read?.(step.query));
  return (
    <Folded title={stepTitle({ ...step, words: words.value ?? step.words })}>
      <pre>{step.query}</pre>
    </Folded>
  );
}

function FindingsStep({ step }: { step: Extract<Step, { step: "findings" }> }) {
  if (step.mentions.length === 0) return <p>{stepTitle(step)}</p>;
  return (
    <>
      <ul class="mentions stack tight">
        {step.mentions.map((mention) => (
          <li key={`${mention.words} ${mention.target}`}>
            <bdi>“{mention.words}”</bdi> <span class="muted">{stepSay.meant}</span>{" "}
            <bdi title={mention.target}>{mention.label}</bdi>{" "}
            <span class="chip">{stepSay.kinds[KINDS.indexOf(mention.kind)] ?? mention.kind}</span>
          </li>
        ))}
      </ul>
      {step.unused_words.length > 0 && (
        <p class="muted small">
          {named(stepSay.unused)}
          <bdi>{step.unused_words.join(", ")}</bdi>
        </p>
      )}
    </>
  );
}

function messageText(message: unknown): string {
  if (typeof message !== "object" || message === null) return String(message);
  const { role, content } = message as { role?: unknown; content?: unknown };
  return typeof content === "string"
    ? `${String(role ?? "")}:\n${content}`
    : JSON.stringify(message, null, 1);
}

/** The steps of a run that is over: as they came, or fetched when they are opened. */
export function StepsOf({ turn, run, read }: { turn: Turn; run: RunView; read: Reader }) {
  const [attempt, problem] = useAttempt();
  const steps = turn.steps.value;
  if (steps.length > 0)
    return <Steps {...{ steps, read }} seconds={run.seconds} usage={run.answer?.usage} />;
  const load = () =>
    void attempt(async () => {
      turn.steps.value = await stepsOf(run.id);
    });
  return (
    <Fold class="steps" title={say.stepsOf} onOpen={load}>
      {problem ? <ProblemNote problem={problem} /> : <p class="muted">{say.loadSteps}</p>}
    </Fold>
  );
}

// Steps of a run, each in a line.

import words from "./stepWords.json";

const stepSay = texts("ask/stepWords", words);

const KINDS = ["entity", "class", "predicate", "value", "operator"];
const LONGEST = 140;

/** A step in one line. */
export function stepTitle(step: Step): string {
  switch (step.step) {
    case "findings": {
      const names = [...new Set(step.mentions.map((mention) => mention.label))];
      return names.length > 0 ? stepSay.found(clipText(names.join(", "))) : stepSay.foundNothing;
    }
    case "draft":
      return step.words ? stepSay.draftAs(clipText(step.words)) : stepSay.draft;
    case "thought":
      return clipText(step.text);
    case "prompt":
      return stepSay.prompt(clipText(step.purpose));
    case "model_turn": {
      const calls = step.choice.calls?.length ?? 0;
      if (calls > 0) return stepSay.turnCalls(calls);
      return clipText(step.choice.text ?? "") || stepSay.turn;
    }
    case "tool_use":
      return step.observation.failed ? stepSay.toolFailed(step.tool) : stepSay.tool(step.tool);
    default:
      return stepSay.other;
  }
}

function clipText(text: string): string {
  const line = text.trim().split("\n")[0] ?? "";
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1)}…` : line;
}
