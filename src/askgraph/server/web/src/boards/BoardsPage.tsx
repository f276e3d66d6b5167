// The boards: a list of them, and one of them.

import { useState } from "preact/hooks";
import { boards, newBoard } from "../api/boards.ts";
import type { PageProps } from "../app/App.tsx";
import { navigate } from "../app/router.ts";
import { formatTime } from "../i18n/index.ts";
import { useAttempt, useFetched } from "../parts/asking.ts";
import { Button, dotted, Field, Form, ProblemNote } from "../parts/parts.tsx";
import { BoardPage } from "./BoardPage.tsx";
import { say } from "./words.ts";

export function BoardsPage({ id }: PageProps) {
  return id ? <BoardPage key={id} id={id} /> : <BoardList />;
}

function BoardList() {
  const { value, problem, again } = useFetched("boards", boards);
  const [title, setTitle] = useState("");
  const [attempt, refused] = useAttempt();
  const make = () =>
    attempt(async () => {
      const { id } = await newBoard(title.trim());
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
              {dotted(
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
        <Button look="" type="submit" disabled={title.trim() === ""}>
          {say.make}
        </Button>
      </Form>
      <ProblemNote problem={refused} />
    </div>
  );
}
