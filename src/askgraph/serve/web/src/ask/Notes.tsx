// What one has to know to judge an answer: that it is empty and why, cut off, or confirmed before.

import type { AnswerView } from "../api/types.ts";
import { navigate } from "../app/router.ts";
import { formatTime } from "../i18n/index.ts";
import { again, type Turn } from "./conversation.ts";
import { words } from "./words.ts";

export function Notes({ answer, turn }: { answer: AnswerView; turn: Turn }) {
  const say = words();
  const { confirmed, truncated, why_empty, cut_short } = answer;
  return (
    <>
      {why_empty && (
        <div class="note">
          <h3>{say.whyEmpty}</h3>
          <p class="lines" dir="auto">
            {why_empty}
          </p>
        </div>
      )}
      {cut_short && (
        <div class="note warn">
          <p dir="auto">
            {say.cutShort}: {cut_short}
          </p>
        </div>
      )}
      {truncated && (
        <div class="note">
          <p dir="auto">
            {say.cutOff}: {truncated.reason}
          </p>
        </div>
      )}
      {confirmed && (
        <div class="note good">
          <p>
            <strong>{say.confirmedBefore(formatTime(confirmed.when))}.</strong>{" "}
            {confirmed.question !== turn.question && (
              <bdi>{say.confirmedAs(confirmed.question)}</bdi>
            )}
          </p>
          {confirmed.change && <p dir="auto">{confirmed.change}</p>}
          <p>
            <button
              type="button"
              class="button small"
              onClick={() =>
                again(turn, { anew: true }, (id) => navigate(`/run/${id}`, { stay: true }))
              }
            >
              {say.askAnew}
            </button>
          </p>
        </div>
      )}
    </>
  );
}
