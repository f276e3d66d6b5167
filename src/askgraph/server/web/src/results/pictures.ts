// Drawings of the page as pictures that stand on their own: what the style sheets say is written out.

const STYLED = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-opacity",
  "stroke-width",
  "stroke-linejoin",
  "vector-effect",
  "paint-order",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "dominant-baseline",
];
const NAMESPACE = "http://www.w3.org/2000/svg";
/** Pixels of a PNG for each pixel of the page. */
const FINE = 2;

/** The text of an SVG file that shows a drawing as the page does now, on its own ground. */
export function standalone(drawn: SVGSVGElement, title: string): string {
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
  const heading = document.createElementNS(NAMESPACE, "title");
  heading.textContent = title;
  const ground = document.createElementNS(NAMESPACE, "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  copy.prepend(heading, ground);
  copy.setAttribute("xmlns", NAMESPACE);
  copy.removeAttribute("aria-hidden");
  return new XMLSerializer().serializeToString(copy);
}

/** The drawing of an SVG file as a PNG. */
export async function pngOf(text: string, { width, height }: SVGSVGElement): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width.baseVal.value * FINE;
  canvas.height = height.baseVal.value * FINE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((made) => (made ? resolve(made) : reject(new Error("PNG")))),
  );
}
