// Parts that every page uses: buttons, links, fields, dialogs, folds, and notes on problems.

import type { ComponentChildren, ComponentProps } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { onReturn, UNREACHABLE } from "../api/http.ts";
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
  readonly text?: string;
  readonly label?: string;
}

export function Button({ look = "small", icon, text, label, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      class={`button ${look}`}
      {...(label && { "aria-label": label, title: label })}
      {...rest}
    >
      {icon && <Icon name={icon} />}
      {text}
      {children}
    </button>
  );
}

/** A small button for what is done less often. */
export const QuietButton = (props: ButtonProps) => <Button look="quiet small" {...props} />;

type LinkProps = Pick<ButtonProps, "look" | "icon" | "text"> & ComponentProps<"a">;

/** A link that looks like a button. */
export function LinkButton({ look = "small", icon, text, ...rest }: LinkProps) {
  return (
    <a class={`button ${look}`} {...rest}>
      {icon && <Icon name={icon} />}
      {text}
    </a>
  );
}

interface Classed {
  readonly class?: string;
}

type NamedProps = Pick<ComponentProps<"a">, "class" | "title" | "children"> & {
  readonly href?: string | null | undefined;
};

/** A name from a graph or a person, in its own writing direction; a link if it has a target. */
export function Named({ href, children, ...link }: NamedProps) {
  const name = <bdi>{children}</bdi>;
  if (!href) return name;
  return (
    <a href={href} {...link}>
      {name}
    </a>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onText?: (text: string) => void;
  readonly input?: ComponentProps<"input"> & { "data-first"?: boolean };
}

/** A field that searches; its label is in it. */
export function SearchField({ label, value, onText, input, ...rest }: FieldProps & Classed) {
  return (
    <input
      type="search"
      class={`field ${rest.class ?? ""}`}
      aria-label={label}
      placeholder={label}
      {...(input as object)}
      value={value}
      onInput={(event) => onText?.(event.currentTarget.value)}
    />
  );
}

interface HintedProps extends FieldProps {
  readonly hint?: string;
  /** The error of the text; it replaces the hint. */
  readonly fault?: string | null;
  readonly long?: boolean;
}

/** A text with its label above it, and perhaps a hint below. */
export function Field({ label, value, onText, input, hint, fault, long = false }: HintedProps) {
  const id = useId();
  const Box = (long ? "textarea" : "input") as "input";
  return (
    <div>
      <label class="label" for={id}>
        {label}
      </label>
      <Box
        {...input}
        id={id}
        class={`field ${input?.class ?? ""}`}
        value={value}
        {...(hint && { "aria-invalid": Boolean(fault), "aria-describedby": `${id}-hint` })}
        onInput={(event) => onText?.(event.currentTarget.value)}
      />
      {hint && (
        <p id={`${id}-hint`} class={fault ? "fault small" : "muted small"}>
          {fault ?? hint}
        </p>
      )}
    </div>
  );
}

interface SelectProps extends Classed {
  readonly label: string;
  readonly labelled?: "label" | "small" | "seen-by-readers";
  readonly value: string | number;
  readonly options: readonly (readonly [value: string | number, words: string])[];
  readonly onChoose: (value: string) => void;
  /** Whether it is as low as a line of small text. */
  readonly slim?: boolean;
}

export function Select({ label, labelled = "label", slim = false, ...props }: SelectProps) {
  return (
    <label class={props.class}>
      <span class={labelled}>{label}</span>
      <select
        class={slim ? "field slim" : "field"}
        value={props.value}
        onChange={(event) => props.onChoose(event.currentTarget.value)}
      >
        {props.options.map(([each, words]) => (
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

/** A checkbox or a radio button. */
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
        {more && <span class="choice-more muted small">{more}</span>}
        {children}
      </span>
    </label>
  );
}

/** An item of a list: its name, a note at the end of the line, and a text below. */
export interface Offer {
  readonly name: ComponentChildren;
  readonly hint?: ComponentChildren;
  readonly more?: ComponentChildren;
  readonly title?: string | undefined;
  readonly take: () => void;
}

/** A list of items to choose by mouse or by the keys of `among`. */
export function Offers({ offers, label }: { offers: readonly Offer[]; label?: string }) {
  return (
    <ul class="alternatives" aria-label={label}>
      {offers.map(({ name, hint, more, title, take }, at) => (
        <li key={at}>
          <button type="button" class="pick alternative" title={title} onClick={take}>
            <span class="row one-line spread">
              <bdi>{name}</bdi>
              {hint && <span class="muted small">{hint}</span>}
            </span>
            {more && <bdi class="alternative-more muted small">{more}</bdi>}
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Those of the texts that are not empty, with dots between them. */
export function joinWithDots(...texts: readonly (string | null | false | undefined)[]): string {
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
  readonly title?: string;
  readonly look?: string;
  /** Whether the label is for screen readers only. */
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
      setState("failed"); // also without a clipboard, for example without TLS
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

/** The attributes of a link that leaves the page. */
export const OUTSIDE = { target: "_blank", rel: "noopener noreferrer nofollow" } as const;

/** Copies an IRI, and leads to its source if it is an address. */
export function IriTools({ iri, link }: { iri: string; link: string | null }) {
  return (
    <>
      <CopyButton text={iri} label={say.copyIri} isSmall />
      {link && (
        <a
          class="button quiet icon small"
          href={link}
          {...OUTSIDE}
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

/** A modal dialog: traps the focus, restores it, closes with Escape. */
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
      class="raised"
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
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}

interface SureProps extends DialogProps {
  readonly go: () => void;
  readonly text?: string;
  readonly disabled?: boolean;
}

/** A dialog that asks before something is done. */
export function SureDialog({ title, text = title, disabled, children, close, go }: SureProps) {
  const send = () => {
    close();
    go();
  };
  return (
    <Dialog title={title} close={close}>
      <Form class="stack" onSend={send}>
        {children}
        <div class="row at-end">
          <Button look="quiet" onClick={close} text={say.cancel} />
          <Button look="primary" type="submit" {...{ disabled, text }} />
        </div>
      </Form>
    </Dialog>
  );
}

interface FoldedProps {
  readonly title: ComponentChildren;
  readonly more?: ComponentChildren;
  readonly open?: boolean;
  readonly children: ComponentChildren;
}

/** A collapsible part under a line. */
export function Folded({ title, more, open = false, children }: FoldedProps) {
  return (
    <details class="step-fold" open={open}>
      <Summary title={<bdi>{title}</bdi>} more={more} />
      {children}
    </details>
  );
}

function Summary({ title, more }: Pick<FoldedProps, "title" | "more">) {
  return (
    <summary>
      {title}
      {more && <span class="fold-more faint number at-end">{more}</span>}
    </summary>
  );
}

interface FoldProps extends Omit<FoldedProps, "children" | "open">, Classed {
  /** Its content; a function builds it while it is open. */
  readonly children: ComponentChildren | (() => ComponentChildren);
  readonly onOpen?: () => void;
  /** It opens whenever this counts up; with `leads`, it takes the focus. */
  readonly wanted?: number;
  readonly leads?: boolean;
}

/** A large collapsible part of an answer. */
export function Fold({ title, more, children, onOpen, wanted = 0, leads, ...rest }: FoldProps) {
  const [isOpen, setOpen] = useState(false);
  const fold = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (!wanted || !fold.current) return;
    fold.current.open = true;
    if (!leads) return;
    fold.current.querySelector("summary")?.focus();
    fold.current.scrollIntoView({ block: "center" });
  }, [wanted]);
  return (
    <details
      class={`fold ${rest.class ?? ""}`}
      ref={fold}
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
        if (event.currentTarget.open) onOpen?.();
      }}
    >
      <Summary title={<span>{title}</span>} more={more} />
      {typeof children !== "function" ? children : isOpen && children()}
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

/** A note about the content beside it. */
export function Note({ look = "", title, text, children }: NoteProps) {
  return (
    <div class={`note ${look}`}>
      {title && <p class="note-title">{title}</p>}
      {text && <p dir="auto">{text}</p>}
      {children}
    </div>
  );
}

interface FactsProps extends Classed {
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

/** Stands for a part until it has loaded. */
export function Loading() {
  return <p class="muted later">{say.loading}</p>;
}

interface ProblemNoteProps {
  readonly problem: Problem | null;
  readonly again?: (() => void) | undefined;
}

/** A problem in words, with a button to try again; nothing if there is none. */
export function ProblemNote({ problem, again }: ProblemNoteProps) {
  const unreachable = problem === UNREACHABLE;
  useEffect(() => (unreachable && again ? onReturn(again) : undefined), [unreachable]);
  if (!problem) return null;
  const titles: Readonly<Record<string, string | undefined>> = kinds;
  const kind = titles[problem.type.replace("urn:askgraph:problem:", "")];
  const title = unreachable ? say.unreachable : kind || problem.title || say.refused;
  const detail = unreachable ? say.unreachableMore : problem.detail;
  return (
    <div class="note bad" role="alert">
      <p class="note-title">{title}</p>
      {detail && detail !== title && (
        <p class="problem-detail lines" lang={unreachable ? undefined : "en"}>
          {detail}
        </p>
      )}
      {again && <Button onClick={again} text={say.again} />}
    </div>
  );
}
