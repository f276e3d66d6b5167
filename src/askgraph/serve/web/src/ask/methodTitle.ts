// What a method is called on the page.

const TITLES: Readonly<Record<string, string>> = {
  dfsl: "DFSL",
  grasp: "GRASP",
  "graf-von-data": "Graf von Data",
  "sparql-llm": "SPARQL-LLM",
};

/** A method's name as people write it: `graph-search` is "Graph search". */
export function methodTitle(name: string): string {
  const spaced = name.replaceAll("-", " ");
  return TITLES[name] ?? spaced.charAt(0).toUpperCase() + spaced.slice(1);
}
