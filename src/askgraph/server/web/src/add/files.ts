// Files to add as a graph, judged by name and size before anything is sent.

/** The error of a file, or of all files together. */
type Fault = "unknown" | "empty" | "large" | "twice";

interface Judged {
  file: File;
  format: string | null;
  fault: Fault | null;
}

const PACKED = ["gz", "bz2", "xz"];
const UNITS = [
  ["megabyte", 1e6],
  ["kilobyte", 1e3],
] as const;
const MOST_LETTERS = 40;
const FORMATS: Readonly<Record<string, string>> = {
  ttl: "Turtle",
  turtle: "Turtle",
  nt: "N-Triples",
  nq: "N-Quads",
  trig: "TriG",
  rdf: "RDF/XML",
  owl: "RDF/XML",
  xml: "RDF/XML",
  jsonld: "JSON-LD",
  json: "JSON-LD",
  n3: "N3",
  csv: "CSV",
  tsv: "TSV",
  zip: "ZIP",
};

/** The endings that a file dialogue offers. */
export const ENDINGS: readonly string[] = Object.keys(FORMATS).flatMap((ending) => [
  `.${ending}`,
  ...PACKED.map((packed) => `.${ending}.${packed}`),
]);

/** Returns the format of a file by its name, compressed or not; null if unknown. */
export function formatOf(name: string): string | null {
  const [last = "", before = ""] = name.toLowerCase().split(".").slice(1).reverse();
  return FORMATS[PACKED.includes(last) ? before : last] ?? null;
}

/** Returns the files with their errors, given the maximum number of bytes in all. */
export function judgeFiles(files: readonly File[], most: number): Judged[] {
  let bytes = 0;
  const seen = new Set<string>();
  return files.map((file) => {
    const format = formatOf(file.name);
    bytes += file.size;
    const faults: Readonly<Record<Fault, boolean>> = {
      unknown: format === null,
      empty: file.size === 0,
      large: bytes > most,
      twice: seen.has(file.name),
    };
    const fault = (Object.keys(faults) as Fault[]).find((one) => faults[one]) ?? null;
    seen.add(file.name);
    return { file, format, fault };
  });
}

/** A name for a graph, from a file's name or an address: small letters, digits and hyphens. */
export function suggestName(from: string): string {
  const stem = URL.canParse(from)
    ? new URL(from).hostname.replace(/^(www|query|sparql)\./, "")
    : from.replace(/\.(gz|bz2|xz)$/i, "").replace(/\.[a-z0-9]+$/i, "");
  return stem
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MOST_LETTERS)
    .replace(/^-+|-+$/g, "");
}

/** Formats a size for people. */
export function formatSize(bytes: number, locale: string): string {
  const [unit, size] = UNITS.find(([, least]) => bytes >= least) ?? ["byte", 1];
  const digits = size > 1 && bytes / size < 10 ? 1 : 0;
  const unitDisplay = unit === "byte" ? "long" : "short";
  const options = { style: "unit", unit, unitDisplay, maximumFractionDigits: digits } as const;
  return new Intl.NumberFormat(locale, options).format(bytes / size);
}

/** A name that no graph has: with a number if it is taken. */
export function freeName(name: string, taken: readonly string[]): string {
  let free = name;
  for (let at = 2; taken.includes(free); at++) free = `${name.slice(0, MOST_LETTERS - 3)}-${at}`;
  return free;
}

/** Whether a name is allowed for a graph. */
export function isName(name: string): boolean {
  return /^[a-z0-9][a-z0-9-]{0,39}$/.test(name);
}
