// A button that opens a panel beside it; Escape, or a click elsewhere, closes it.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./Icon.tsx";
import { type Offer, Offers } from "./parts.tsx";

interface PopoverProps {
  readonly label: ComponentChildren;
  readonly icon?: IconName;
  readonly title?: string;
  /** Whether an arrow after the label shows that something opens. */
  readonly arrow?: boolean;
  readonly class?: string;
  readonly panelClass?: string;
  readonly iri?: string;
  readonly children: (close: () => void) => ComponentChildren;
  readonly onOpen?: () => void;
}

export function Popover({ label, icon, title, arrow, children, onOpen, ...more }: PopoverProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const root = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const close = () => {
    if (panel.current?.contains(document.activeElement)) button.current?.focus();
    setOpen(false);
  };
  useLayoutEffect(() => {
    if (!open) return;
    onOpen?.();
    const again = () => place(panel.current);
    again();
    focusInto(panel.current);
    const stop = new AbortController();
    const { signal } = stop;
    const changes = new MutationObserver(again);
    if (panel.current) changes.observe(panel.current, { childList: true, subtree: true });
    const scrolled = (event: Event) => {
      if (event.target instanceof Node && !panel.current?.contains(event.target)) again();
    };
    window.addEventListener("resize", again, { signal });
    document.addEventListener("scroll", scrolled, { signal, capture: true });
    const outside = (event: Event) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false);
    };
    for (const name of ["pointerdown", "focusin"])
      document.addEventListener(name, outside, { signal });
    return () => {
      changes.disconnect();
      stop.abort();
    };
  }, [open]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes from any element inside
    <span
      class="popover-root"
      ref={root}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !open) return;
        event.preventDefault();
        event.stopPropagation();
        close();
      }}
    >
      <button
        type="button"
        ref={button}
        class={more.class ?? "button quiet small"}
        title={title}
        data-iri={more.iri}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {icon && <Icon name={icon} />}
        {label}
        {arrow && <Icon name="down" size={12} />}
      </button>
      {open && (
        <div id={id} class={`popover raised ${more.panelClass ?? ""}`} ref={panel}>
          {children(close)}
        </div>
      )}
    </span>
  );
}

interface MenuProps extends Omit<PopoverProps, "children" | "panelClass"> {
  readonly groups: readonly { readonly title?: string; readonly items: readonly Offer[] }[];
}

/** A button that opens a list of items. */
export function Menu({ groups, ...button }: MenuProps) {
  return (
    <Popover {...button} panelClass="menu">
      {(close) =>
        groups.map(({ title, items }, at) => {
          const closing = (offer: Offer) => () => {
            close();
            offer.take();
          };
          return (
            <section key={at}>
              {title && <p class="small muted">{title}</p>}
              <Offers offers={items.map((offer) => ({ ...offer, take: closing(offer) }))} />
            </section>
          );
        })
      }
    </Popover>
  );
}

/** A plus that opens a panel of what can be added. */
export const PlusMenu = (props: Omit<PopoverProps, "label">) => (
  <Popover class="part plus" panelClass="part-panel" icon="plus" label="" {...props} />
);

function focusInto(panel: HTMLElement | null): void {
  const first =
    panel?.querySelector<HTMLElement>("[data-first]") ??
    panel?.querySelector<HTMLElement>("input:checked") ??
    panel?.querySelector<HTMLElement>("button, input, select, a[href]");
  first?.focus({ preventScroll: true });
}

const EDGE = 12;
const GAP = 6;
const LOWEST = 160; // minimum height of a panel in pixels

/** The limit of a panel's edge: that of its button's column, or of the window. */
function farthest(panel: HTMLElement): number {
  const window = document.documentElement.clientWidth - EDGE;
  const page = panel.closest(".page");
  if (!page) return window;
  const inner = Number.parseFloat(getComputedStyle(page).paddingInlineEnd);
  return Math.min(window, page.getBoundingClientRect().right - inner);
}

/** Moves the panel, before it is painted, to the side with room, and not over the window's edge. */
function place(panel: HTMLElement | null): void {
  const button = panel?.previousElementSibling?.getBoundingClientRect();
  if (!panel || !button) return;
  const isFixed = panel.closest("table") !== null; // a table that scrolls would cut it off
  panel.style.translate = "";
  panel.style.maxBlockSize = "";
  if (isFixed) panel.style.inset = `${button.bottom + GAP}px auto auto ${button.left}px`;
  const { left, right, height } = panel.getBoundingClientRect();
  const over = Math.max(0, right - farthest(panel)) - Math.max(0, EDGE - left);
  if (over !== 0) panel.style.translate = `${-over}px 0`;
  const below = window.innerHeight - button.bottom - GAP - EDGE;
  const bar = document.querySelector(".bar")?.getBoundingClientRect().bottom ?? 0;
  const above = button.top - bar - GAP - EDGE;
  const goesUp = height > below && above > below;
  panel.classList.toggle("above", goesUp);
  if (isFixed && goesUp)
    panel.style.inset = `auto auto ${window.innerHeight - button.top + GAP}px ${button.left}px`;
  panel.style.maxBlockSize = `${Math.max(LOWEST, goesUp ? above : below)}px`;
}
