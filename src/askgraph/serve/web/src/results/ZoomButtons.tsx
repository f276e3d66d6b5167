// Nearer, farther, all of it: for a map and for a drawing.

import { words } from "./words.ts";

const STEP = 1.6;

interface Props {
  readonly zoom: (factor: number) => void;
  readonly fit: () => void;
}

export function ZoomButtons({ zoom, fit }: Props) {
  const say = words();
  const button = (label: string, sign: string, press: () => void) => (
    <button
      type="button"
      class="button icon small"
      aria-label={label}
      title={label}
      onClick={press}
    >
      {sign}
    </button>
  );
  return (
    <div class="zoom-buttons">
      {button(say.nearer, "+", () => zoom(STEP))}
      {button(say.farther, "−", () => zoom(1 / STEP))}
      {button(say.all, "⤢", fit)}
    </div>
  );
}
