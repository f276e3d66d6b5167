// The texts of a language, which the build gathers.

declare module "words:*" {
  const texts: import("./index.ts").Texts;
  export default texts;
}
