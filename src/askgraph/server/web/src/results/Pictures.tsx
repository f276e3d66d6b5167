// A drawing saved as a picture, SVG or PNG.

import { save } from "../api/http.ts";
import { pixels } from "../app/theme.ts";
import { useAttempt } from "../parts/asking.ts";
import { Menu } from "../parts/Popover.tsx";
import { ProblemNote } from "../parts/parts.tsx";
import { shortenText } from "./measure.ts";
import { say } from "./words.ts";

interface PicturesProps {
  readonly name: string;
  /** The lines above the drawing: the question, its answer, the source. */
  readonly about: readonly string[];
  readonly drawing: () => SVGSVGElement | null | undefined;
}

export function Pictures({ name, about, drawing }: PicturesProps) {
  const [attempt, problem] = useAttempt();
  const keep = async (format: "svg" | "png") => {
    const drawn = drawing();
    if (!drawn) return;
    const text = toStandaloneSvg(drawn, name, about);
    const blob = format === "svg" ? new Blob([text], { type: "image/svg+xml" }) : await toPng(text);
    save(blob, `${fileName(name)}.${format}`);
  };
  const items = (["svg", "png"] as const).map((format) => ({
    name: format.toUpperCase(),
    take: () => void attempt(() => keep(format)),
  }));
  return (
    <span class="at-end">
      <Menu icon="save" label={say.asPicture} groups={[{ items }]} />
      <ProblemNote problem={problem} />
    </span>
  );
}

/** Returns a file name for a title. */
export function fileName(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 80);
}

// Drawings of the page as standalone pictures with inlined styles.

const STYLED = (
  "fill fill-opacity stroke stroke-opacity stroke-width stroke-linejoin vector-effect paint-order " +
  "font-family font-size font-weight text-anchor dominant-baseline"
).split(" ");
const NAMESPACE = "http://www.w3.org/2000/svg";
/** Pixels of a PNG for each pixel of the page. */
const FINE = 2;

/** Pixels of a line above a drawing, and before it. */
const LINE = 20;
const MARGIN = 8;

/** The text of an SVG file that shows a drawing as the page does now, on its own ground. */
export function toStandaloneSvg(
  drawn: SVGSVGElement,
  title: string,
  about: readonly string[] = [],
): string {
  const copy = drawn.cloneNode(true) as SVGSVGElement;
  const [from, to] = [drawn, copy].map((one) => [...one.querySelectorAll<SVGElement>("*")]);
  from?.forEach((element, at) => {
    const style = getComputedStyle(element);
    for (const name of STYLED) {
      const value = style.getPropertyValue(name);
      if (value) to?.[at]?.setAttribute(name, value);
    }
    to?.[at]?.removeAttribute("class");
    to?.[at]?.removeAttribute("style");
  });
  const { backgroundColor, color, fontFamily } = getComputedStyle(document.documentElement);
  const make = (name: string, values: Readonly<Record<string, string | number>>, text = "") => {
    const made = document.createElementNS(NAMESPACE, name);
    for (const [key, value] of Object.entries(values)) made.setAttribute(key, `${value}`);
    made.textContent = text;
    return made;
  };
  const { width, height } = drawn.getBoundingClientRect();
  const look = { fill: color, "font-family": fontFamily, "font-size": pixels("text-s") };
  const lines = about.map((line, at) => {
    const place = { x: MARGIN, y: LINE * (at + 1), "font-weight": at ? 400 : 600 };
    return make("text", { ...look, ...place }, shortenText(line, width - 2 * MARGIN, 600));
  });
  const below = lines.length * LINE + MARGIN * Math.sign(lines.length);
  const moved = make("g", { transform: `translate(0 ${below})` });
  moved.append(...copy.childNodes);
  const ground = make("rect", { width: "100%", height: "100%", fill: backgroundColor });
  copy.replaceChildren(make("title", {}, title), ground, ...lines, moved);
  copy.setAttribute("height", `${height + below}`);
  copy.setAttribute("xmlns", NAMESPACE);
  copy.removeAttribute("aria-hidden");
  return new XMLSerializer().serializeToString(copy);
}

/** The drawing of an SVG file as a PNG. */
async function toPng(text: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * FINE;
  canvas.height = image.height * FINE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((made) => (made ? resolve(made) : reject(new Error("PNG")))),
  );
}

// Pictures of answers, for previews of their links.

const [WIDE, HIGH, EDGE] = [1200, 630, 64];
/** The most letters of a picture in base64 that the server takes: 200 kB. */
const MOST = 266_668;

/** A PNG in base64 with a question, its answer and their source; null if it cannot be drawn. */
export function drawPreview(question: string, answer: string, source: string): string | null {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: WIDE, height: HIGH });
  const pen = canvas.getContext("2d");
  const { backgroundColor, color, fontFamily } = getComputedStyle(document.documentElement);
  if (!pen) return null;
  pen.fillStyle = backgroundColor;
  pen.fillRect(0, 0, WIDE, HIGH);
  pen.fillStyle = color;
  let y = EDGE;
  const write = (text: string, weight: number, size: number, most: number) => {
    pen.font = `${weight} ${size}px ${fontFamily}`;
    for (const line of wrap(text, most, (part) => pen.measureText(part).width <= WIDE - 2 * EDGE)) {
      y += 1.3 * size;
      pen.fillText(line, EDGE, y);
    }
  };
  write(question, 400, 40, 3);
  y += EDGE / 2;
  write(answer, 600, 52, 4);
  y = HIGH - EDGE - 26;
  write(source, 400, 26, 1);
  const text = canvas.toDataURL("image/png").split(",")[1] ?? "";
  return text.length <= MOST ? text : null;
}

/** The first lines of a text, broken at its spaces, or within a word that is too long for one. */
function wrap(text: string, most: number, fits: (line: string) => boolean): string[] {
  const lines = [""];
  for (const part of text.slice(0, 600).split(/(?<=\s)/)) {
    for (const piece of fits(part) ? [part] : part) {
      if (fits(lines.at(-1) + piece.trimEnd())) lines[lines.length - 1] += piece;
      else lines.push(piece);
    }
  }
  const shown = lines.slice(0, most);
  return lines.length > most
    ? [...shown.slice(0, -1), `${shown.at(-1)?.trimEnd().slice(0, -1)}…`]
    : shown;
}
