// The verdict on an answer: confirm it, report an error, share it.

import { useState } from "preact/hooks";
import { confirm, feedback, lessonsOf, share, withdraw } from "../api/ask.ts";
import { judgeVerified, teach, verifiedOf, withdrawVerified } from "../api/graphs.ts";
import type * as api from "../api/types.ts";
import { graphTitle, may, mayWithdraw } from "../app/known.ts";
import { Later } from "../app/Later.tsx";
import { formatTime } from "../i18n/index.ts";
import { useAttempt, useFetched } from "../parts/asking.ts";
import { Icon } from "../parts/Icon.tsx";
import { Popover } from "../parts/Popover.tsx";
import {
  Button,
  Choice,
  CopyButton,
  Field,
  Form,
  joinWithDots,
  ProblemNote,
  QuietButton,
} from "../parts/parts.tsx";
import type { Turn } from "./conversation.ts";
import { speakHeadline } from "./HeadlineView.tsx";
import { say } from "./words.ts";

const pictures = () => import("../results/Pictures.tsx");
const pinMenu = () => import("../boards/PinMenu.tsx").then((found) => found.PinMenu);

interface VerdictProps {
  readonly turn: Turn;
  readonly run: api.RunView;
  readonly shown: api.AnswerDisplay;
  readonly standing: Standing;
  readonly onWrong: () => void;
}

export function Verdict({ turn, run, shown, standing, onWrong }: VerdictProps) {
  const [attempt, problem] = useAttempt();
  const [isAsking, ask] = useState(false);
  const take = (doing: Promise<api.RunView | null>) =>
    attempt(async () => {
      const told = await doing;
      if (told) turn.run.value = told;
    });
  const right = () => feedback(run.id, "right", "").then(() => confirm(run.id));
  const wrong = async (comment: string) => ({
    ...run,
    feedback: await feedback(run.id, "wrong", comment),
  });
  const pin = (
    <Popover icon="pin" label={say.pin}>
      {() => <Later load={pinMenu} props={{ run: run.id, shown }} />}
    </Popover>
  );
  if (!run.mine) return <div class="verdict">{pin}</div>;
  return (
    <div class="verdict stack near">
      <div class="row">
        {run.verified ? (
          <>
            <span class="chip good" role="status">
              <Icon name="check" size={14} />
              {say.confirmed}
            </span>
            <QuietButton onClick={() => void take(withdraw(run.id))} text={say.withdraw} />
          </>
        ) : (
          <>
            {!run.answer?.confirmed && <span class="muted small">{say.isRight}</span>}
            {may("confirm") && run.answer?.status !== "refusal" && !run.answer?.confirmed && (
              <Button icon="check" title={say.confirmHint} onClick={() => void take(right())}>
                {say.right}
              </Button>
            )}
            <Button
              icon="cross"
              onClick={() => {
                ask(true);
                onWrong();
                void take(wrong(run.feedback?.comment ?? ""));
              }}
              text={say.wrong}
            />
          </>
        )}
        {pin}
        <Share
          title={say.shareTitle}
          address={`${location.origin}/run/${run.id}`}
          embed={embedding(run)}
          shared={run.shared}
          setShared={(shared) => take(shareRun(run, shared))}
        />
        {run.feedback?.verdict === "wrong" && !run.verified && (
          <span class="chip warn" role="status">
            {say.thanks}
          </span>
        )}
      </div>
      {isAsking && (
        <Wrong
          send={(comment) => take(wrong(comment)).then((isSent) => isSent && ask(false))}
          standing={standing}
        />
      )}
      <ProblemNote problem={problem} />
    </div>
  );
}

/** What a changed reading teaches, with its effect on confirmed answers; each can be kept. */
export function Lessons({ run, graph }: { run: string; graph: string }) {
  const [found, setFound] = useState<api.LessonsView | null>(null);
  const [kept, setKept] = useState<readonly api.LessonView[]>([]);
  const [attempt, problem] = useAttempt();
  const keep = (of: string, one: api.LessonView) =>
    attempt(async () => {
      const { word, means, query, definition } = one;
      await (word === null ? confirm(of, query) : teach(graph, { word, means, definition }));
      setKept([...kept, one]);
    });
  if (!found)
    return (
      <div>
        <QuietButton onClick={() => void attempt(async () => setFound(await lessonsOf(run)))}>
          {say.learn}
        </QuietButton>
        <ProblemNote problem={problem} />
      </div>
    );
  return (
    <ul class="verified-list ruled" aria-label={say.learn}>
      {found.lessons
        .filter((one) => one.word === null || may("manage"))
        .map((one) => (
          <li key={one.word} class="row spread">
            <span class="small">
              <bdi>{one.word === null ? say.isExample : say.means(one.word, one.label)}</bdi>{" "}
              {one.effect.improved.length + one.effect.worsened.length > 0 && (
                <span class="muted" title={one.effect.worsened.join("\n")}>
                  {say.effect(one.effect.improved.length, one.effect.worsened.length)}
                </span>
              )}
            </span>
            {kept.includes(one) ? (
              <span role="status">{say.kept}</span>
            ) : (
              <QuietButton onClick={() => void keep(found.run, one)} text={say.keep} />
            )}
          </li>
        ))}
      <ProblemNote problem={problem} />
    </ul>
  );
}

interface WrongProps {
  readonly send: (comment: string) => Promise<unknown>;
  readonly standing: Standing;
}

/** An optional description of the error in the person's own words. */
function Wrong({ send, standing: { end, words } }: WrongProps) {
  const [ends, setEnds] = useState(true);
  const [comment, setComment] = useState("");
  return (
    <Form
      class="stack close measure"
      onSend={() => {
        void send(comment.trim()).then(ends && end ? end : undefined);
      }}
    >
      <Field
        long
        label={say.wrongTitle}
        value={comment}
        onText={setComment}
        input={{ maxLength: 4000, placeholder: say.wrongPlaceholder }}
      />
      {end && <Choice name={words.endToo} checked={ends} onChange={setEnds} />}
      <div>
        <Button type="submit" text={say.send} />
      </div>
    </Form>
  );
}

interface ShareProps {
  readonly title: string;
  readonly address: string;
  readonly embed?: string;
  readonly shared: boolean;
  readonly setShared: (shared: boolean) => Promise<unknown>;
}

/** The link to an answer or a board, and whether it opens for others. */
export function Share({ title, address, embed, shared, setShared }: ShareProps) {
  // What was ticked, until the server has replied.
  const [ticked, setTicked] = useState<boolean | null>(null);
  return (
    <Popover icon="link" label={say.share}>
      {() => (
        <div class="stack menu-form">
          <Field
            label={title}
            value={address}
            input={{
              ...{ readOnly: true, "data-first": true },
              onFocus: (event) => event.currentTarget.select(),
            }}
          />
          <Choice
            name={say.shareOn}
            more={shared ? say.shareMore : say.shareNot}
            checked={ticked ?? shared}
            onChange={(on) => {
              setTicked(on);
              void setShared(on).then(() => setTicked(null));
            }}
          />
          <div class="row">
            <CopyButton text={address} />
            {embed && shared && <CopyButton text={embed} label={say.embed} title={embed} />}
          </div>
        </div>
      )}
    </Popover>
  );
}

/** Shares an answer with a picture of it, which previews of the link show, or stops sharing it. */
async function shareRun(run: api.RunView, shared: boolean): Promise<api.RunView> {
  const source = joinWithDots(...run.graphs.map(graphTitle), formatTime(new Date().toISOString()));
  const text = run.answer ? speakHeadline(run.answer) : "";
  const drawn = shared && (await pictures()).drawPreview(run.question, text, source);
  return share(run.id, shared, (await drawn) || null);
}

/** A frame with a shared answer, as HTML. */
function embedding({ id, question }: api.RunView): string {
  const frame = document.createElement("iframe");
  frame.src = `${location.origin}/embed/${id}`;
  frame.title = question;
  frame.width = "100%";
  frame.height = "420";
  return frame.outerHTML;
}

// The verified answer that a question was answered with: the caller's to withdraw, or to dispute.

export interface Standing {
  readonly isGone: boolean;
  /** Withdraws or disputes it; null if the caller may not, or if there is none. */
  readonly end: (() => Promise<unknown>) | null;
  readonly words: { readonly end: string; readonly endToo: string; readonly done: string };
  readonly problem: api.Problem | null;
}

export function useStanding(graph: string, confirmed: api.ConfirmationView | null): Standing {
  const [isGone, setGone] = useState(false);
  const [attempt, problem] = useAttempt();
  const isWanted = confirmed !== null && may("confirm");
  // If this fails, the answer can still be withdrawn on the graph's own page.
  const found = useFetched(`${graph} ${confirmed?.when} ${isWanted}`, async (signal) =>
    isWanted ? (await verifiedOf(graph, signal)).verified : [],
  );
  const given = found.value?.find(
    ({ when, question }) => when === confirmed?.when && question === confirmed.question,
  );
  const isSame = (one: api.VerifiedAnswerView) =>
    one.query === given?.query && one.question === given.question && !one.disputed;
  const one = found.value?.find((other) => other.mine && isSame(other)) ?? given;
  const isOwn = one !== undefined && mayWithdraw(one);
  const end = (id: string) =>
    attempt(async () => {
      await (isOwn ? withdrawVerified(graph, id) : judgeVerified(graph, id, "wrong"));
      setGone(true);
    });
  const words = isOwn
    ? { end: say.withdraw, endToo: say.withdrawToo, done: say.withdrawn }
    : { end: say.dispute, endToo: say.disputeToo, done: say.disputed };
  return { isGone, problem, words, end: one && !isGone ? () => end(one.id) : null };
}
