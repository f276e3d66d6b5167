// Parts that every page uses: buttons, links, fields, dialogs, folds, and notes on problems.

import type { ComponentChildren, ComponentProps } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../api/types.ts";
import { texts } from "../i18n/index.ts";
import { Icon, type IconName } from "./Icon.tsx";
import problems from "./problems.json";
import words from "./words.json";

const say = texts("parts/words", words);
const kinds = texts("parts/problems", problems);

interface ButtonProps extends Omit<ComponentProps<"button">, "icon" | "label"> {
  /** How it looks: `primary`, `quiet`, `small` and `icon`, one or several. */
  readonly look?: string;
  readonly icon?: IconName;
  /** Its name, if there is nothing but a sign on it. */
  readonly label?: string;
}

export function Button({ look = "small", icon, label, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      class={`button ${look}`}
      {...(label && { "aria-label": label, title: label })}
      {...rest}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface NamedProps {
  /** Where it leads; missing if it leads nowhere. */
  readonly href?: string | null | undefined;
  readonly title?: string | undefined;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A name from a graph or a person, in whatever direction it is written; a link if it has one. */
export function Named({ href, children, ...link }: NamedProps) {
  const name = <bdi>{children}</bdi>;
  if (!href) return name;
  return (
    <a href={href} {...link}>
      {name}
    </a>
  );
}

interface SearchProps {
  readonly label: string;
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly class?: string;
}

export function SearchField({ label, value, onText, ...rest }: SearchProps) {
  return (
    <input
      type="search"
      class={`field ${rest.class ?? ""}`}
      aria-label={label}
      placeholder={label}
      value={value}
      onInput={(event) => onText(event.currentTarget.value)}
    />
  );
}

export interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onText: (text: string) => void;
  /** More attributes of the input. */
  readonly input?: ComponentProps<"input"> & { "data-first"?: boolean };
}

/** A line of text with its label above it. */
export function Field({ label, value, onText, input = {} }: FieldProps) {
  return (
    <label>
      <span class="label">{label}</span>
      <input
        {...input}
        class="field"
        value={value}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    </label>
  );
}

interface SelectProps {
  readonly label: string;
  /** How the label looks: above the choice, or only heard. */
  readonly labelled: "label" | "small" | "seen-by-readers";
  readonly value: string | number;
  /** The choices: values with their words. */
  readonly options: readonly (readonly [value: string | number, words: string])[];
  readonly onChoose: (value: string) => void;
  readonly class: string;
}

export function Select({ label, labelled, value, options, onChoose, ...rest }: SelectProps) {
  return (
    <label class={rest.class}>
      <span class={labelled}>{label}</span>
      <select class="field" value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {options.map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

interface ChoiceProps {
  readonly name: ComponentChildren;
  readonly more?: ComponentChildren;
  readonly checked: boolean;
  readonly onChange: (on: boolean) => void;
  /** Of several with this name, one is chosen. */
  readonly group?: string;
  readonly disabled?: boolean;
  readonly title?: string | null;
  readonly children?: ComponentChildren;
}

/** Something to tick, or one of several to choose. */
export function Choice({ name, more, group, title, onChange, children, ...input }: ChoiceProps) {
  return (
    <label class="choice" {...(title && { title })}>
      <input
        {...(group ? { type: "radio", name: group } : { type: "checkbox" })}
        {...input}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>
        <span class={more ? "choice-name" : undefined}>{name}</span>
        {more && <span class="choice-more">{more}</span>}
        {children}
      </span>
    </label>
  );
}

/** Those of the texts that are not empty, with dots between them. */
export function dotted(...texts: readonly (string | null | false | undefined)[]): string {
  return texts.filter(Boolean).join(" · ");
}

/** A form that a script sends. */
export function Form({ onSend, ...rest }: ComponentProps<"form"> & { onSend: () => void }) {
  const send = (event: Event) => {
    event.preventDefault();
    onSend();
  };
  return <form {...rest} onSubmit={send} />;
}

interface CopyButtonProps {
  /** The text, or a function that makes it when the button is pressed. */
  readonly text: string | (() => string);
  readonly label?: string;
  /** An explanation of the button, if the label is not enough. */
  readonly title?: string;
  readonly look?: string;
  /** Whether the label is only heard. */
  readonly isSmall?: boolean;
}

/** A button that copies a text, and confirms it. */
export function CopyButton({ text, label, title, look, isSmall = false }: CopyButtonProps) {
  const [state, setState] = useState<"" | "copied" | "failed">("");
  useEffect(() => {
    if (!state) return;
    const timer = setTimeout(() => setState(""), 2500);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setState("copied");
    } catch {
      setState("failed"); // also if there is no clipboard, as without TLS
    }
  };
  return (
    <>
      <Button
        look={look ?? (isSmall ? "quiet icon small" : "small")}
        title={title ?? (isSmall ? label : undefined)}
        onClick={() => void copy()}
      >
        <Icon name={state === "copied" ? "check" : "copy"} size={isSmall ? 14 : 16} />
        <span class={isSmall ? "seen-by-readers" : undefined}>
          {state ? say[state] : (label ?? say.copy)}
        </span>
      </Button>
      <span class="seen-by-readers" role="status">
        {state && say[state]}
      </span>
    </>
  );
}

/** Copies an IRI, and leads to its source if it is an address. */
export function IriTools({ iri, link }: { iri: string; link: string | null }) {
  return (
    <>
      <CopyButton text={iri} label={say.copyIri} isSmall />
      {link && (
        <a
          class="button quiet icon small"
          href={link}
          target="_blank"
          rel="noopener noreferrer nofollow"
          aria-label={say.open}
          title={say.open}
        >
          <Icon name="out" size={14} />
        </a>
      )}
    </>
  );
}

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

/** A dialog in front of the page: takes the keyboard, gives it back, closes with Escape. */
export function Dialog({ title, close, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it, too (onCancel)
    <dialog
      ref={element}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClick={(event) => {
        if (event.target === element.current) close();
      }}
    >
      <h2 class="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}

interface SureProps {
  /** Names what is done, as title and on the button that does it. */
  readonly title: string;
  readonly question: string;
  readonly close: () => void;
  readonly go: () => void;
}

/** A dialog that asks before something is done that cannot be undone. */
export function SureDialog({ title, question, close, go }: SureProps) {
  return (
    <Dialog title={title} close={close}>
      <p>{question}</p>
      <div class="row dialog-buttons">
        <Button look="quiet" onClick={close}>
          {say.cancel}
        </Button>
        <Button look="primary" onClick={go}>
          {title}
        </Button>
      </div>
    </Dialog>
  );
}

interface FoldedProps {
  readonly title: ComponentChildren;
  /** Something about it, at the line's end. */
  readonly more?: ComponentChildren;
  readonly open?: boolean;
  readonly children: ComponentChildren;
}

/** A part that is folded away under a line. */
export function Folded({ title, more, open = false, children }: FoldedProps) {
  return (
    <details class="step-fold" open={open}>
      <summary>
        <bdi>{title}</bdi>
        {more && <span class="fold-more">{more}</span>}
      </summary>
      {children}
    </details>
  );
}

interface NoteProps {
  /** `good`, `warn` or `bad`; `stack` if there is more in it than a sentence. */
  readonly look?: string;
  readonly title?: string;
  readonly text?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** Something to know about what stands beside it. */
export function Note({ look = "", title, text, children }: NoteProps) {
  return (
    <div class={`note ${look}`}>
      {title && <p class="note-title">{title}</p>}
      {text && <p dir="auto">{text}</p>}
      {children}
    </div>
  );
}

interface FactsProps {
  readonly class: string;
  readonly facts: readonly (readonly [name: ComponentChildren, value: ComponentChildren])[];
}

/** Names with their values. */
export function Facts({ facts, ...rest }: FactsProps) {
  return (
    <dl class={rest.class}>
      {facts.map(([name, value], at) => (
        <div key={at}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface ProblemNoteProps {
  readonly problem: Problem | null;
  /** Tries again; without it no button is shown. */
  readonly again?: () => void;
}

/** A problem in words, with a button to try again; nothing if there is none. */
export function ProblemNote({ problem, again }: ProblemNoteProps) {
  if (!problem) return null;
  const unreachable = problem.status === 0 && problem.title === "";
  const known: Readonly<Record<string, string | undefined>> = kinds;
  const kind = known[problem.type.replace("urn:askgraph:problem:", "")];
  const title = unreachable ? say.unreachable : kind || problem.title || say.refused;
  const detail = unreachable ? say.unreachableMore : problem.detail;
  return (
    <div class="note bad" role="alert">
      <p class="note-title">{title}</p>
      {detail && detail !== title && (
        <p class="problem-detail" lang={unreachable ? undefined : "en"}>
          {detail}
        </p>
      )}
      {again && <Button onClick={again}>{say.again}</Button>}
    </div>
  );
}
