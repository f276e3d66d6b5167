// What the build makes: the texts of a language, and the coast lines of the world.

declare module "words:*" {
  const texts: import("./index.ts").Texts;
  export default texts;
}

declare module "coast" {
  /** An SVG path on a square that is so many units wide. */
  const coast: { readonly path: string; readonly units: number };
  export default coast;
}
