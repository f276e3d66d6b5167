// The steps of a run, folded away but there.

import { useState } from "preact/hooks";
import { stepsOf } from "../api/ask.ts";
import type { RunView, Step, Usage } from "../api/types.ts";
import { formatSeconds, named } from "../i18n/index.ts";
import { useAttempt } from "../parts/asking.ts";
import { dotted, Folded, ProblemNote } from "../parts/parts.tsx";
import type { Turn } from "./conversation.ts";
import { type Draft, type Reader, useWords } from "./reading.ts";
import { kindWord, stepSay, stepTitle } from "./stepWords.ts";
import { say } from "./words.ts";

interface StepsProps {
  readonly steps: readonly Step[];
  readonly isRunning?: boolean;
  readonly seconds?: number | null;
  readonly usage?: Usage | undefined;
  /** Reads queries back once the steps are opened; without it, only their own words are shown. */
  readonly read?: Reader;
}

export function Steps({ steps, isRunning = false, seconds = null, usage, read }: StepsProps) {
  const [isOpen, setOpen] = useState(false);
  if (steps.length === 0) return null;
  return (
    <details
      class="fold steps"
      data-running={isRunning}
      onToggle={(event) => {
        if (event.target === event.currentTarget) setOpen(event.currentTarget.open);
      }}
    >
      <summary>
        <span>{say.stepsOf}</span>
        <span class="fold-more">
          {dotted(
            say.steps(steps.length),
            seconds !== null && formatSeconds(seconds),
            ...(usage ? costWords(usage) : []),
          )}
        </span>
      </summary>
      <ol class="step-list">
        {steps.map((step, at) => (
          <li key={at} class={`step step-${step.step}`}>
            <StepView step={step} read={isOpen && read ? read : null} />
          </li>
        ))}
      </ol>
    </details>
  );
}

function costWords(usage: Usage): string[] {
  return [
    usage.requests > 0 ? say.requests(usage.requests) : "",
    usage.llm_calls > 0 ? say.calls(usage.llm_calls) : "",
    usage.llm_calls > 0 ? say.tokens(usage.input_tokens + usage.output_tokens) : "",
    usage.money > 0 ? usage.money.toFixed(4) : "",
  ];
}

function StepView({ step, read }: { step: Step; read: Reader | null }) {
  switch (step.step) {
    case "findings":
      return <FindingsStep step={step} />;
    case "draft":
      return <DraftStep key={read ? "read" : "as it came"} step={step} read={read} />;
    case "tool_use":
      return (
        <Folded
          title={stepTitle(step)}
          more={dotted(
            typeof step.observation.rows === "number" && stepSay.rows(step.observation.rows),
            formatSeconds(step.seconds),
          )}
        >
          <pre>{JSON.stringify(step.arguments, null, 1)}</pre>
          <pre>{step.observation.text}</pre>
        </Folded>
      );
    case "model_turn":
      return (
        <Folded title={stepTitle(step)} more={step.model}>
          {step.choice.text && <p class="step-text">{step.choice.text}</p>}
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
      return <p class="step-text">{step.text}</p>;
    default:
      return null;
  }
}

function DraftStep({ step, read }: { step: Draft; read: Reader | null }) {
  const told = useWords(step, read);
  const title = stepTitle(told ? { ...step, words: told } : step);
  return (
    <Folded title={title} more={`${stepSay.score}\u00a0${step.score.toFixed(2)}`}>
      <pre>{step.query}</pre>
    </Folded>
  );
}

function FindingsStep({ step }: { step: Extract<Step, { step: "findings" }> }) {
  if (step.mentions.length === 0) return <p>{stepTitle(step)}</p>;
  return (
    <>
      <ul class="mentions">
        {step.mentions.map((mention) => (
          <li key={`${mention.words} ${mention.target}`}>
            <bdi>“{mention.words}”</bdi> <span class="muted">{stepSay.meant}</span>{" "}
            <bdi title={mention.target}>{mention.label}</bdi>{" "}
            <span class="chip">{kindWord(mention.kind)}</span>
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

// The steps of a run that is over: as they came, or fetched when they are opened.

export function StepsOf({ turn, run, read }: { turn: Turn; run: RunView; read: Reader }) {
  const [attempt, problem] = useAttempt();
  const [isLoading, setLoading] = useState(false);
  const steps = turn.steps.value;
  if (steps.length > 0)
    return <Steps {...{ steps, read }} seconds={run.seconds} usage={run.answer?.usage} />;
  const load = async () => {
    if (isLoading) return;
    setLoading(true);
    await attempt(async () => {
      turn.steps.value = await stepsOf(run.id);
    });
  };
  return (
    <details class="fold steps" onToggle={() => void load()}>
      <summary>
        <span>{say.stepsOf}</span>
      </summary>
      {problem ? <ProblemNote problem={problem} /> : <p class="muted">{say.loadSteps}</p>}
    </details>
  );
}
