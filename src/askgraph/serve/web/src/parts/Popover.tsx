// A button that opens a panel beside it; Escape, or a click elsewhere, closes it.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

export interface PopoverProps {
  readonly label: ComponentChildren;
  /** What the button does, where its label does not say so. */
  readonly title?: string;
  readonly class?: string;
  readonly panelClass?: string;
  readonly children: (close: () => void) => ComponentChildren;
  readonly onOpen?: () => void;
}

export function Popover({ label, title, children, onOpen, ...classes }: PopoverProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const root = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const close = () => {
    if (panel.current?.contains(document.activeElement)) button.current?.focus();
    setOpen(false);
  };
  useEffect(() => {
    if (!open) return;
    onOpen?.();
    place(panel.current);
    focusInto(panel.current);
    const outside = (event: Event) => {
      if (event.target instanceof Node && !root.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    document.addEventListener("focusin", outside);
    return () => {
      document.removeEventListener("pointerdown", outside);
      document.removeEventListener("focusin", outside);
    };
  }, [open]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes from whatever is inside
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
        class={classes.class ?? "button quiet small"}
        title={title}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {label}
      </button>
      {open && (
        <div id={id} class={`popover ${classes.panelClass ?? ""}`} ref={panel}>
          {children(close)}
        </div>
      )}
    </span>
  );
}

function focusInto(panel: HTMLElement | null): void {
  const first =
    panel?.querySelector<HTMLElement>("[data-first]") ??
    panel?.querySelector<HTMLElement>("input:checked, button, input, select, a[href]");
  first?.focus({ preventScroll: true });
}

/** Moves the panel to where it fits: not over the sides of the window. */
function place(panel: HTMLElement | null): void {
  if (!panel) return;
  const room = 12;
  const { left, right, bottom, height, top } = panel.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  const over = Math.max(0, right - width + room) - Math.max(0, room - left);
  if (over !== 0) panel.style.translate = `${-over}px 0`;
  const above = top - height - 48;
  if (bottom > window.innerHeight - room && above > room) panel.classList.add("above");
}
