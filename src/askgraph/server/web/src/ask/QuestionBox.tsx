// The box that a question is typed into; names of the graph complete what is typed.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { complete } from "../api/graphs.ts";
import type { CompletionView } from "../api/types.ts";
import { useFetched, useSettled } from "../parts/asking.ts";
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
  readonly children?: ComponentChildren;
}

const PAUSE = 110;
const SHOWN = 7;
const KINDS: Readonly<Record<string, number>> = { entity: 0, class: 1, property: 2, predicate: 2 };

export function QuestionBox(props: QuestionBoxProps) {
  const [text, setText] = useState(props.initial ?? "");
  const area = useRef<HTMLTextAreaElement>(null);
  const suggestions = useSuggestions(props.graphs);
  const list = useId();
  useEffect(() => {
    if (props.focused) area.current?.focus({ preventScroll: true });
  }, []);
  useEffect(() => {
    if (!area.current) return;
    area.current.style.height = "auto";
    area.current.style.height = `${area.current.scrollHeight}px`;
  }, [text]);

  const take = (completion: CompletionView) => {
    const cursor = area.current?.selectionStart ?? text.length;
    const next = completeQuestion(text, cursor, completion);
    setText(next.text);
    suggestions.close();
    queueMicrotask(() => {
      // Wait until the new text is in the box, before more is typed.
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
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (isOpen && by) suggestions.move(by);
    else if (isOpen && event.key === "Escape") suggestions.close();
    else if (active && ["Tab", "Enter"].includes(event.key) && !event.shiftKey) take(active);
    else if (event.key === "Enter" && !event.shiftKey) send();
    else return;
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
        onBlur={suggestions.close}
      />
      {suggestions.found.length > 0 && (
        <div id={list} class="suggestions raised" role="listbox" aria-label={say.suggestions}>
          {suggestions.found.map((one, position) => (
            <div
              key={`${one.iri} ${one.text}`}
              id={`${list}-${position}`}
              class="pick suggestion row one-line spread"
              role="option"
              tabIndex={-1}
              aria-selected={position === suggestions.at}
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
      )}
      <div class="question-foot row spread">
        <div class="question-tools row tight">{props.children}</div>
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

/** The names that complete the words before the cursor, and which of them is chosen. */
function useSuggestions(graphs: readonly string[]) {
  const [before, look] = useState("");
  const [at, setAt] = useState(-1);
  const [round, setRound] = useState(0); // replies of earlier rounds are dropped
  const wanted = useSettled(isCompletable(before) ? before : "", PAUSE);
  const { value } = useFetched(`${round} ${graphs.join("\n")} ${wanted}`, async () => {
    const failed = (): CompletionView[] => []; // typing continues
    const listOf = (one: string) => complete(one, wanted).then((it) => it.completions, failed);
    const lists = wanted && (await Promise.all(graphs.slice(0, 4).map(listOf)));
    return { round, list: lists ? mergeCompletions(lists, SHOWN) : [] };
  });
  useEffect(() => setAt(-1), [value]);
  const found = (isCompletable(before) && value?.round === round && value.list) || [];
  const move = (by: number) => {
    const places = found.length + 1;
    setAt(((at + 1 + by + places) % places) - 1);
  };
  const close = () => {
    look("");
    setRound(round + 1);
  };
  return { found, at, look, move, close };
}

// Completing names while a question is typed.

/** Whether the words before the cursor are worth asking the graph for. */
export function isCompletable(before: string): boolean {
  const last = /[\p{L}\p{N}][\p{L}\p{N}'’.-]*$/u.exec(before)?.[0] ?? "";
  return [...last].length >= 3 || /\p{N}/u.test(last);
}

/** The question with a completion in place of the words that it completes, and the new cursor. */
export function completeQuestion(text: string, cursor: number, completion: CompletionView) {
  const start = Math.min(Math.max(completion.start, 0), cursor);
  const rest = text.slice(cursor);
  const gap = rest === "" || /^[^\s?.,;:!)]/.test(rest) ? " " : "";
  const head = text.slice(0, start) + completion.text;
  return { text: head + gap + rest, cursor: head.length + gap.length };
}

/** The completions of several graphs as one list, in turn, each name once. */
export function mergeCompletions(
  found: readonly (readonly CompletionView[])[],
  limit: number,
): CompletionView[] {
  const longest = Math.max(0, ...found.map((list) => list.length));
  const places = Array.from({ length: longest }, (_, at) => at);
  const inTurn = places.flatMap((at) => found.flatMap((list) => list[at] ?? []));
  const once = new Map(inTurn.toReversed().map((one) => [`${one.iri} ${one.text}`, one]));
  return inTurn.filter((one) => once.get(`${one.iri} ${one.text}`) === one).slice(0, limit);
}
