// The words of a question, for teaching what one of them means.

/** The words of a question in its order, each once. */
export function wordsOf(question: string): string[] {
  return [...new Set(question.match(/[\p{L}\p{N}]+(?:[-’'][\p{L}\p{N}]+)*/gu) ?? [])];
}

/** The words of a question, those that were not understood first. */
export function orderWords(question: string, unused: readonly string[]): string[] {
  const odd = new Set(unused.flatMap(wordsOf).map((word) => word.toLowerCase()));
  const isOdd = (word: string) => odd.has(word.toLowerCase());
  const words = wordsOf(question);
  return [...words.filter(isOdd), ...words.filter((word) => !isOdd(word))];
}

/** Adds a word of the question to the phrase, or removes it, in the question's order. */
export function toggleWord(question: string, phrase: string, word: string): string {
  const chosen = new Set(wordsOf(phrase));
  if (!chosen.delete(word)) chosen.add(word);
  const words = wordsOf(question).filter((one) => chosen.has(one));
  return words.join(" ");
}
