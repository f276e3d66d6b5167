// Notes for judging an answer: that it is empty and why, cut off, or confirmed before.

import type { AnswerView, FindingView } from "../api/types.ts";
import { formatTime, named } from "../i18n/index.ts";
import { Button, Note, ProblemNote } from "../parts/parts.tsx";
import { again, type Turn } from "./conversation.ts";
import type { Standing } from "./Verdict.tsx";
import { say } from "./words.ts";

interface NotesProps {
  readonly answer: AnswerView;
  readonly turn: Turn;
  /** Findings about a query that a person changed. */
  readonly findings: readonly FindingView[];
  readonly standing: Standing;
}

export function Notes({ answer, turn, findings, standing }: NotesProps) {
  const { confirmed, truncated, why_empty, cut_short } = answer;
  return (
    <>
      {why_empty && (
        <Note title={say.whyEmpty}>
          <p class="lines" dir="auto">
            {why_empty}
          </p>
        </Note>
      )}
      {findings.length > 0 && (
        <Note look="warn" title={answer.total === 0 && !why_empty ? say.whyEmpty : say.checked}>
          {findings.map((finding) => (
            <p key={`${finding.check} ${finding.message}`} dir="auto">
              {finding.message}
            </p>
          ))}
        </Note>
      )}
      {cut_short && <Note look="warn" text={named(say.cutShort, cut_short)} />}
      {truncated && <Note text={named(say.cutOff, truncated.reason)} />}
      {confirmed && (
        <Note look="good">
          <p>
            <strong>{say.confirmedBefore(formatTime(confirmed.when))}.</strong>{" "}
            {confirmed.question !== turn.question && (
              <bdi>{say.confirmedAs(confirmed.question)}</bdi>
            )}
          </p>
          {confirmed.change && <p dir="auto">{confirmed.change}</p>}
          {standing.isGone && <p role="status">{say.withdrawn}</p>}
          <p class="row">
            <Button onClick={() => again(turn, { anew: true })}>
              {standing.isGone ? say.askAgain : say.askAnew}
            </Button>
            {standing.withdraw && (
              <Button look="quiet small" onClick={() => void standing.withdraw?.()}>
                {say.withdraw}
              </Button>
            )}
          </p>
          <ProblemNote problem={standing.problem} />
        </Note>
      )}
    </>
  );
}
