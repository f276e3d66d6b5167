// Controls of result views: tabs, pages and zoom buttons.

import { Button, Select } from "../parts/parts.tsx";
import { say } from "./words.ts";

// Tabs by the ARIA pattern: one is in the tab order, the arrow keys reach the others.

interface TabsProps<Name extends string> {
  /** The panel has the id `ID-panel`, the tabs `ID-NAME`. */
  readonly id: string;
  readonly label: string;
  readonly tabs: readonly { readonly name: Name; readonly title: string }[];
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
}

export function TabList<Name extends string>({ id, label, tabs, chosen, ...on }: TabsProps<Name>) {
  const at = tabs.findIndex(({ name }) => name === chosen);
  const go = (event: KeyboardEvent) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    const tab = to === undefined ? undefined : tabs[(to + tabs.length) % tabs.length];
    if (!tab) return;
    event.preventDefault();
    on.onChoose(tab.name);
    document.getElementById(`${id}-${tab.name}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label}>
      {tabs.map(({ name, title }) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`${id}-${name}`}
          aria-selected={name === chosen}
          aria-controls={`${id}-panel`}
          tabIndex={name === chosen ? 0 : -1}
          onClick={() => on.onChoose(name)}
          onKeyDown={go}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

// From page to page of a list.

const SIZES = [25, 50, 100, 250];

interface PagerProps {
  readonly page: number;
  readonly pages: number;
  readonly onPage: (page: number) => void;
  readonly size?: number;
  readonly onSize?: (size: number) => void;
}

export function Pager({ page, pages, onPage, size, onSize }: PagerProps) {
  const step = (label: string, sign: string, to: number, off: boolean) => (
    <Button look="quiet icon small" label={label} disabled={off} onClick={() => onPage(to)}>
      {sign}
    </Button>
  );
  return (
    <div class="pager row tight muted small number" role="group" aria-label={say.pages}>
      {pages > 1 && (
        <>
          {step(say.first, "«", 0, page === 0)}
          {step(say.previous, "‹", page - 1, page === 0)}
          <span aria-live="polite">{say.page(page + 1, pages)}</span>
          {step(say.next, "›", page + 1, page >= pages - 1)}
          {step(say.last, "»", pages - 1, page >= pages - 1)}
        </>
      )}
      {onSize && (
        <Select
          class="row at-end"
          label={say.perPage}
          labelled="small"
          slim
          value={size ?? ""}
          options={SIZES.map((choice) => [choice, `${choice}`])}
          onChoose={(chosen) => onSize(Number(chosen))}
        />
      )}
    </div>
  );
}

// Zoom in, zoom out and show all, for maps and drawings.

const STEP = 1.6;

export function ZoomButtons({ zoom, fit }: { zoom: (factor: number) => void; fit: () => void }) {
  const button = (label: string, sign: string, press: () => void) => (
    <Button look="icon small" label={label} onClick={press} text={sign} />
  );
  return (
    <div class="zoom-buttons stack tight">
      {button(say.nearer, "+", () => zoom(STEP))}
      {button(say.farther, "−", () => zoom(1 / STEP))}
      {button(say.all, "⤢", fit)}
    </div>
  );
}

/** The end of an arrow between the marks of a drawing. */
export function ArrowHead({ id }: { id: string }) {
  const size = { refX: 7, refY: 4, markerWidth: 7, markerHeight: 7 };
  return (
    <marker id={id} viewBox="0 0 8 8" orient="auto" {...size}>
      <path d="M0 0 8 4 0 8z" />
    </marker>
  );
}
