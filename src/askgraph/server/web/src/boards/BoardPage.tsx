// A board: its last state first, then updated.

import { useEffect, useState } from "preact/hooks";
import * as api from "../api/boards.ts";
import type { BoardView } from "../api/types.ts";
import type { PageProps } from "../app/App.tsx";
import { knownGraphs } from "../app/known.ts";
import { navigate } from "../app/router.ts";
import { Share } from "../ask/Verdict.tsx";
import { formatTime } from "../i18n/index.ts";
import { useAttempt, useFetched } from "../parts/asking.ts";
import {
  Button,
  Field,
  Form,
  joinWithDots,
  ProblemNote,
  QuietButton,
  SureDialog,
} from "../parts/parts.tsx";
import { PinCard } from "./PinCard.tsx";
import { say } from "./words.ts";

export { GraphBoard } from "./GraphBoard.tsx";

export function BoardPage({ id }: { id: string }) {
  const [board, setBoard] = useState<BoardView | null>(null);
  const [isBusy, setBusy] = useState(true);
  const [said, setSaid] = useState("");
  const [attempt, problem] = useAttempt();
  const update = (signal: AbortSignal) =>
    attempt(async () => {
      setBusy(true);
      try {
        const fresh = await api.refresh(id, signal);
        setBoard(fresh);
        setSaid(summarizeNews(fresh));
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        if (!signal.aborted) setBusy(false);
      }
    });
  useEffect(() => {
    knownGraphs.need();
    const leaving = new AbortController();
    void attempt(async () => setBoard(await api.boardOf(id))).then((found) => {
      if (found && !leaving.signal.aborted) void update(leaving.signal);
      else setBusy(false);
    });
    return () => leaving.abort();
  }, []);
  if (!board)
    return (
      <div class="page stack">
        <h1>{say.title}</h1>
        {problem ? <ProblemNote problem={problem} /> : <p class="muted later">{say.loading}</p>}
      </div>
    );
  const pins = board.content;
  const keep = (content: BoardView["content"]) => setBoard({ ...board, content });
  const put = (doing: () => Promise<BoardView>) => attempt(async () => setBoard(await doing()));
  const move = (pin: string, place: number) =>
    attempt(async () => {
      await api.changePin(id, pin, { place });
      const others = pins.filter((one) => one.id !== pin);
      const moved = pins.find((one) => one.id === pin);
      if (moved) keep(others.toSpliced(place, 0, moved));
      setSaid(say.moved(place + 1, pins.length));
    });
  const drop = (pin: string, title: string) =>
    attempt(async () => {
      await api.unpin(id, pin);
      keep(pins.filter((one) => one.id !== pin));
      setSaid(say.removed(title));
      document.querySelector<HTMLElement>("#content h1")?.focus();
    });
  return (
    <div class="page stack board" aria-busy={isBusy}>
      <div class="stack close">
        <h1 tabIndex={-1}>
          <bdi>{board.title}</bdi>
        </h1>
        <div class="row">
          {!board.mine && <span class="chip">{say.readOnly}</span>}
          <span class={isBusy ? "muted small later" : "muted small"} role="status">
            {isBusy ? say.updating : said}
          </span>
        </div>
        <Tools
          {...{ board, isBusy, put }}
          drop={() => attempt(() => api.deleteBoard(id))}
          update={() => void update(new AbortController().signal)}
        />
      </div>
      <ProblemNote problem={problem} />
      {board.hidden > 0 && <p class="muted small">{say.hidden(board.hidden)}</p>}
      {pins.length === 0 && board.hidden === 0 && (
        <p class="muted">
          {say.empty} <a href="/">{say.ask}</a>
        </p>
      )}
      <ol class="tiles pins">
        {pins.map((pin, place) => (
          <PinCard
            key={pin.id}
            pin={pin}
            own={
              board.mine && {
                ...{ place, of: pins.length },
                move: (to) => move(pin.id, to),
                remove: () => void drop(pin.id, pin.title || pin.question),
                change: (change) =>
                  attempt(async () => {
                    await api.changePin(id, pin.id, change);
                    keep(pins.map((one) => (one.id === pin.id ? { ...pin, ...change } : one)));
                  }),
              }
            }
          />
        ))}
      </ol>
    </div>
  );
}

interface ToolsProps {
  readonly board: BoardView;
  readonly isBusy: boolean;
  readonly put: (doing: () => Promise<BoardView>) => Promise<boolean>;
  readonly update: () => void;
  readonly drop: () => Promise<boolean>;
}

/** Actions on a board. */
function Tools({ board, isBusy, put, update, drop }: ToolsProps) {
  const [open, setOpen] = useState<"rename" | "delete" | null>(null);
  const close = () => setOpen(null);
  const { id, mine } = board;
  return (
    <div class="row">
      {mine && board.content.some((pin) => pin.changes) && (
        <Button
          icon="check"
          title={say.seenHint}
          disabled={isBusy}
          onClick={() => put(() => api.seen(id))}
          text={say.seen}
        />
      )}
      <QuietButton icon="run" disabled={isBusy} onClick={update} text={say.update} />
      {mine && (
        <Share
          title={say.shareTitle}
          address={`${location.origin}/boards/${id}`}
          shared={board.shared}
          setShared={(shared) => put(() => api.shareBoard(id, shared))}
        />
      )}
      {mine && (
        <>
          <QuietButton icon="pen" onClick={() => setOpen("rename")} text={say.rename} />
          <QuietButton icon="bin" onClick={() => setOpen("delete")} text={say.delete} />
        </>
      )}
      {open === "rename" && (
        <Renaming
          title={say.rename}
          label={say.name}
          name={board.title}
          close={close}
          save={(title) => put(() => api.renameBoard(id, title))}
        />
      )}
      {open === "delete" && (
        <SureDialog
          title={say.delete}
          close={close}
          go={() => void drop().then((isGone) => isGone && navigate("/boards"))}
        >
          <p>{say.sure}</p>
        </SureDialog>
      )}
    </div>
  );
}

interface RenamingProps {
  readonly title: string;
  readonly label: string;
  readonly name: string;
  readonly close: () => void;
  readonly save: (name: string) => Promise<unknown>;
}

/** A dialog to rename something. */
export function Renaming({ title, label, name, close, save }: RenamingProps) {
  const [text, setText] = useState(name);
  return (
    <SureDialog
      {...{ title, close }}
      text={say.save}
      disabled={text.trim() === ""}
      go={() => void save(text.trim())}
    >
      <Field label={label} value={text} onText={setText} input={{ maxLength: 200 }} />
    </SureDialog>
  );
}

/** Describes the outcome of an update in a sentence or two. */
function summarizeNews({ content }: BoardView): string {
  const changed = content.filter((pin) => pin.changes).length;
  const failed = content.filter((pin) => pin.problem).length;
  if (content.length === 0) return "";
  return joinWithDots(
    changed > 0 ? say.changedPins(changed) : failed === 0 && say.upToDate,
    failed > 0 && say.failedPins(failed),
  );
}

// The boards: a list of them, and one of them.

export function BoardsPage({ id }: PageProps) {
  return id ? <BoardPage key={id} id={id} /> : <BoardList />;
}

function BoardList() {
  const { value, problem, again } = useFetched("boards", api.boards);
  const [title, setTitle] = useState("");
  const [attempt, refused] = useAttempt();
  const make = () =>
    attempt(async () => {
      const { id } = await api.newBoard(title.trim());
      navigate(`/boards/${id}`);
    });
  return (
    <div class="page stack">
      <h1>{say.title}</h1>
      <ProblemNote problem={problem} again={again} />
      {!value && !problem && <p class="muted later">{say.loading}</p>}
      {value?.length === 0 && (
        <p class="muted">
          {say.none} <a href="/">{say.ask}</a>
        </p>
      )}
      <ul class="board-list ruled">
        {value?.map((board) => (
          <li key={board.id}>
            <a href={`/boards/${board.id}`}>
              <bdi>{board.title}</bdi>
            </a>
            <span class="muted small">
              {joinWithDots(
                say.pins(board.pins),
                board.shared && say.isShared,
                formatTime(board.changed),
              )}
            </span>
          </li>
        ))}
      </ul>
      <Form class="row new-board" onSend={() => void make()}>
        <Field label={say.new} value={title} onText={setTitle} input={{ maxLength: 200 }} />
        <Button look="" type="submit" disabled={title.trim() === ""} text={say.make} />
      </Form>
      <ProblemNote problem={refused} />
    </div>
  );
}
