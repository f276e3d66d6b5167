// The box that a question is typed into; names of the graph complete what is typed.

import { type ComponentChildren, createRef } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { complete } from "../api/graphs.ts";
import type { Completion } from "../api/types.ts";
import { Icon } from "../parts/Icon.tsx";
import { Button, Form } from "../parts/parts.tsx";
import { say } from "./words.ts";

interface QuestionBoxProps {
  readonly graphs: readonly string[];
  readonly ask: (question: string) => void;
  readonly label: string;
  readonly placeholder: string;
  readonly button: string;
  readonly initial?: string;
  readonly focused?: boolean;
  /** Stands in the box's lower row, before the button. */
  readonly children?: ComponentChildren;
}

const PAUSE = 110;
const SHOWN = 7;

export function QuestionBox(props: QuestionBoxProps) {
  const [text, setText] = useState(props.initial ?? "");
  const area = useRef(createRef<HTMLTextAreaElement>()).current;
  const suggestions = useSuggestions(props.graphs);
  const list = useId();
  const given = useRef(props.initial);
  useEffect(() => {
    // Not when the box is new: effects run late, and would undo what a quick person has typed.
    if (given.current === props.initial) return;
    given.current = props.initial;
    setText(props.initial ?? "");
  }, [props.initial]);
  useEffect(() => {
    if (props.focused) area.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => grow(area.current), [text]);
  useEffect(() => {
    // A quick person types before the graphs are known, whose names complete the question.
    const box = area.current;
    if (box && box === document.activeElement && text !== (props.initial ?? ""))
      suggestions.look(text.slice(0, box.selectionStart));
  }, [props.graphs.join("\n")]);

  const take = (completion: Completion) => {
    const cursor = area.current?.selectionStart ?? text.length;
    const next = completed(text, cursor, completion);
    setText(next.text);
    suggestions.close();
    queueMicrotask(() => {
      // The new text is in the box, and nothing that is typed on.
      area.current?.focus();
      area.current?.setSelectionRange(next.cursor, next.cursor);
    });
  };
  const send = () => {
    const question = text.trim();
    if (!question) return;
    suggestions.close();
    setText("");
    props.ask(question);
  };
  const active = suggestions.found[suggestions.at];
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const isOpen = suggestions.found.length > 0;
    if (isOpen && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      suggestions.move(event.key === "ArrowDown" ? 1 : -1);
    } else if (isOpen && event.key === "Escape") {
      suggestions.close();
    } else if (active && (event.key === "Tab" || event.key === "Enter") && !event.shiftKey) {
      take(active);
    } else if (event.key === "Enter" && !event.shiftKey) {
      send();
    } else return;
    event.preventDefault();
  };
  return (
    <Form class="question-box" onSend={send}>
      <textarea
        ref={area}
        data-question
        rows={1}
        aria-label={props.label}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={suggestions.found.length > 0 ? list : undefined}
        aria-activedescendant={active ? `${list}-${suggestions.at}` : undefined}
        placeholder={props.placeholder}
        autocomplete="off"
        enterkeyhint="send"
        maxLength={4000}
        dir="auto"
        value={text}
        onInput={(event) => {
          const { value, selectionStart } = event.currentTarget;
          setText(value);
          suggestions.look(value.slice(0, selectionStart));
        }}
        onKeyDown={onKeyDown}
        onBlur={() => suggestions.close()}
      />
      {suggestions.found.length > 0 && (
        <SuggestionList id={list} found={suggestions.found} at={suggestions.at} take={take} />
      )}
      <div class="question-foot">
        <div class="question-tools row">{props.children}</div>
        <Button look="primary" type="submit" disabled={!text.trim()}>
          {props.button}
          <Icon name="ask" />
        </Button>
      </div>
      <span class="seen-by-readers" role="status">
        {suggestions.found.length > 0 ? say.suggested(suggestions.found.length) : ""}
      </span>
    </Form>
  );
}

interface Suggestions {
  readonly found: readonly Completion[];
  readonly at: number;
  readonly look: (before: string) => void;
  readonly move: (by: number) => void;
  readonly close: () => void;
}

function useSuggestions(graphs: readonly string[]): Suggestions {
  const [found, setFound] = useState<readonly Completion[]>([]);
  const [at, setAt] = useState(-1);
  const waiting = useRef<{ timer: number; leaving: AbortController } | null>(null);
  const forget = () => {
    if (!waiting.current) return;
    clearTimeout(waiting.current.timer);
    waiting.current.leaving.abort();
    waiting.current = null;
  };
  useEffect(() => forget, []);
  const close = () => {
    forget();
    setFound([]);
    setAt(-1);
  };
  const look = (before: string) => {
    forget();
    if (!isCompletable(before) || graphs.length === 0) {
      close();
      return;
    }
    const leaving = new AbortController();
    const timer = window.setTimeout(async () => {
      const lists = await Promise.all(graphs.slice(0, 4).map((one) => listOf(one, before)));
      if (leaving.signal.aborted) return;
      setFound(merged(lists, SHOWN));
      setAt(-1);
    }, PAUSE);
    waiting.current = { timer, leaving };
  };
  const move = (by: number) => {
    const places = found.length + 1;
    setAt(((at + 1 + by + places) % places) - 1);
  };
  return { found, at, look, move, close };
}

/** Returns the completions of a graph; none if it fails: typing goes on without. */
async function listOf(graph: string, before: string): Promise<readonly Completion[]> {
  try {
    return (await complete(graph, before)).completions;
  } catch {
    return [];
  }
}

function grow(area: HTMLTextAreaElement | null): void {
  if (!area) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}

// The names that complete a question, as a listbox below it.

interface SuggestionListProps {
  readonly id: string;
  readonly found: readonly Completion[];
  readonly at: number;
  readonly take: (completion: Completion) => void;
}

const KINDS: Readonly<Record<string, number>> = { entity: 0, class: 1, property: 2, predicate: 2 };

function SuggestionList({ id, found, at, take }: SuggestionListProps) {
  return (
    <div id={id} class="suggestions" role="listbox" aria-label={say.suggestions}>
      {found.map((one, position) => (
        <div
          key={`${one.iri} ${one.text}`}
          id={`${id}-${position}`}
          class="suggestion"
          role="option"
          tabIndex={-1}
          aria-selected={position === at}
          onPointerDown={(event) => {
            event.preventDefault();
            take(one);
          }}
        >
          <bdi>{one.text}</bdi>
          <span class="muted small">
            {one.label !== one.text && <bdi>{one.label} · </bdi>}
            {one.of ? <bdi>{one.of}</bdi> : say.kinds[KINDS[one.kind] ?? 3]}
          </span>
        </div>
      ))}
    </div>
  );
}

// Completing names while a question is typed.

/** Whether the words before the cursor are worth asking the graph for. */
export function isCompletable(before: string): boolean {
  const last = /[\p{L}\p{N}][\p{L}\p{N}'’.-]*$/u.exec(before)?.[0] ?? "";
  return [...last].length >= 3 || /\p{N}/u.test(last);
}

/** The question with a completion in place of the words that it completes, and the new cursor. */
export function completed(
  text: string,
  cursor: number,
  completion: Completion,
): { readonly text: string; readonly cursor: number } {
  const start = Math.min(Math.max(completion.start, 0), cursor);
  const rest = text.slice(cursor);
  const gap = rest === "" || /^[^\s?.,;:!)]/.test(rest) ? " " : "";
  const head = text.slice(0, start) + completion.text;
  return { text: head + gap + rest, cursor: head.length + gap.length };
}

/** The completions of several graphs as one list, in turn, each name once. */
export function merged(found: readonly (readonly Completion[])[], limit: number): Completion[] {
  const all: Completion[] = [];
  const longest = Math.max(0, ...found.map((list) => list.length));
  for (let at = 0; at < longest; at += 1) {
    for (const list of found) {
      const one = list[at];
      if (one && !all.some((other) => other.iri === one.iri && other.text === one.text)) {
        all.push(one);
      }
    }
  }
  return all.slice(0, limit);
}
