// Nearer, farther, all of it: for a map and for a drawing.

import { Button } from "../parts/parts.tsx";
import { say } from "./words.ts";

const STEP = 1.6;

interface Props {
  readonly zoom: (factor: number) => void;
  readonly fit: () => void;
}

export function ZoomButtons({ zoom, fit }: Props) {
  const button = (label: string, sign: string, press: () => void) => (
    <Button look="icon small" label={label} onClick={press}>
      {sign}
    </Button>
  );
  return (
    <div class="zoom-buttons">
      {button(say.nearer, "+", () => zoom(STEP))}
      {button(say.farther, "−", () => zoom(1 / STEP))}
      {button(say.all, "⤢", fit)}
    </div>
  );
}
