// The choice of the board that an answer is pinned to, or of a new one.

import { useEffect, useRef, useState } from "preact/hooks";
import { boards, newBoard, pinTo } from "../api/boards.ts";
import type { AnswerDisplay, BoardView } from "../api/types.ts";
import { useAttempt, useFetched } from "../parts/asking.ts";
import { Button, Field, Form, ProblemNote, QuietButton } from "../parts/parts.tsx";
import { say } from "./words.ts";

interface PinMenuProps {
  readonly run: string;
  readonly shown: AnswerDisplay;
}

export function PinMenu({ run, shown }: PinMenuProps) {
  const { value, problem } = useFetched("boards", boards);
  const [title, setTitle] = useState("");
  const [pinned, setPinned] = useState<BoardView | null>(null);
  const [attempt, failed] = useAttempt();
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => {
    menu.current?.querySelector<HTMLElement>("button:not(:disabled), input, a")?.focus();
  }, [value, pinned]);
  const pin = (board: () => Promise<string>) =>
    attempt(async () => setPinned(await pinTo(await board(), run, shown)));
  const name = title || (value?.length === 0 ? say.mine : "");
  return (
    <div class="stack near menu-form" ref={menu}>
      <p role="status" class={pinned ? undefined : "label"}>
        {pinned ? say.pinned(pinned.title) : say.pinTo}
      </p>
      {pinned && <a href={`/boards/${pinned.id}`}>{say.open}</a>}
      {!pinned && value && value.length > 0 && (
        <ul>
          {value.map((board) => (
            <li key={board.id}>
              <QuietButton onClick={() => void pin(async () => board.id)}>
                <bdi>{board.title}</bdi>
              </QuietButton>
            </li>
          ))}
        </ul>
      )}
      {!pinned && value && (
        <Form class="stack close" onSend={() => void pin(async () => (await newBoard(name)).id)}>
          <Field label={say.new} value={name} onText={setTitle} input={{ maxLength: 200 }} />
          <Button look="primary small" type="submit" disabled={name.trim() === ""} text={say.pin} />
        </Form>
      )}
      <ProblemNote problem={problem ?? failed} />
    </div>
  );
}
