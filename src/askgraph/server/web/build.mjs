// Builds the page into static/: modules and styles with hashed names, each also compressed, and
// index.html that names them; into static/report/ the script and the styles of a report; and
// licences.txt, the texts of the licences of what is bundled. With --tests, bundles tests/*.test.ts for `node --test` instead.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { geoMercator, geoPath } from "d3-geo";
import { build } from "esbuild";
import { feature } from "topojson-client";

const HERE = dirname(fileURLToPath(import.meta.url));
const STATIC = join(HERE, "static");
const COMPRESSED = /\.(js|css|html|svg|json)$/;

/**
 * The page's texts: of a words.json the bundles hold the English; `words:fr` is all that there is
 * in another language, each table as a list in the order of its keys.
 */
const words = {
  name: "words",
  setup(builds) {
    builds.onResolve({ filter: /^words:/ }, ({ path }) => ({ path, namespace: "words" }));
    builds.onLoad({ filter: /\.json$/ }, ({ path }) => {
      if (!path.startsWith(join(HERE, "src"))) return;
      const english = Object.entries(read(path)).map(([key, [en]]) => [key, [en]]);
      return { contents: JSON.stringify(Object.fromEntries(english)), loader: "json" };
    });
    builds.onLoad({ filter: /.*/, namespace: "words" }, ({ path }) => {
      const contents = JSON.stringify(textsIn(path.slice("words:".length)));
      return { contents, loader: "json" };
    });
  },
};

/** The land of the world as a path on the square of the map's projection, drawn at build time. */
const coast = {
  name: "coast",
  setup(builds) {
    builds.onResolve({ filter: /^coast$/ }, ({ path }) => ({ path, namespace: "coast" }));
    builds.onLoad({ filter: /.*/, namespace: "coast" }, () => {
      const units = 4_000; // whole ones: 10 km at the equator, finer than the coast lines are
      const land = read(join(HERE, "node_modules/world-atlas/land-110m.json"));
      const projection = geoMercator()
        .scale(units / (2 * Math.PI))
        .translate([units / 2, units / 2]);
      const drawn = geoPath(projection).digits(0)(feature(land, land.objects.land));
      const path = drawn.split("Z").map(relative).join("");
      return { contents: JSON.stringify({ units, path }), loader: "json" };
    });
  },
};

/** An outline of a path, `M1,2L3,5…`, by the steps from corner to corner: half as many bytes. */
function relative(outline) {
  const corners = outline.slice(1).split("L");
  const points = corners.map((corner) => corner.split(",").map(Number));
  const steps = points.slice(1).map(([x, y], at) => [x - points[at][0], y - points[at][1]]);
  const far = steps.filter(([x, y]) => x !== 0 || y !== 0);
  return far.length > 0 ? `M${corners[0]}l${far.join(" ").replace(/[ ,]-/g, "-")}z` : "";
}

/**
 * A part that loads later also imports the start of the page, which has loaded by then, and the
 * view of results, which soon has: esbuild writes what they share as one file each, instead of
 * one for each set of parts.
 */
const later = {
  name: "later",
  setup(builds) {
    builds.onResolve({ filter: /^\..*\.tsx$/ }, ({ path, kind, resolveDir }) =>
      kind === "dynamic-import" ? { path: join(resolveDir, path), namespace: "later" } : undefined,
    );
    builds.onLoad({ filter: /.*/, namespace: "later" }, ({ path }) => {
      const imports = 'import "./src/main.tsx"; import "./src/results/ResultView.tsx";';
      const contents = `${imports} export * from ${JSON.stringify(path)}`;
      return { contents, resolveDir: HERE };
    });
  },
};

const common = {
  absWorkingDir: HERE,
  plugins: [words, coast, later],
  alias: { "d3-color": "./src/results/noColours.ts" },
  bundle: true,
  logLevel: "warning",
  jsx: "automatic",
  jsxImportSource: "preact",
};

function tables() {
  const found = readdirSync(join(HERE, "src"), { recursive: true });
  return found.filter((name) => name.endsWith(".json") && !name.startsWith("i18n"));
}

function textsIn(language) {
  const own = language === "de" ? null : read(join(HERE, `src/i18n/${language}.json`));
  const inTable = (name) => {
    const table = Object.entries(read(join(HERE, "src", name)));
    const id = name.replace(/\.json$/, "");
    return [id, table.map(([key, row]) => (own ? own[id]?.[key] : row[1]) ?? null)];
  };
  return Object.fromEntries(tables().map(inTable));
}

function read(path) {
  return JSON.parse(readFileSync(path, "utf8"));
}

if (process.argv.includes("--tests")) await buildTests();
else await buildPage();

async function buildPage() {
  rmSync(STATIC, { recursive: true, force: true });
  const options = {
    ...common,
    minify: true,
    metafile: true,
    legalComments: "none",
    target: ["chrome123", "firefox121", "safari17.5"],
    outdir: "static/assets",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    loader: { ".svg": "dataurl" },
  };
  const pages = await build({
    ...options,
    entryPoints: ["src/main.tsx", "src/styles.css"],
    format: "esm",
    splitting: true,
  });
  const theme = await build({ ...options, entryPoints: ["src/theme.ts"], format: "iife" });
  await build({ ...options, entryPoints: ["src/docs.css"] }); // of askgraph.server.page
  // What a report carries inside its one file: askgraph.evaluation.reports.page puts it there.
  const report = await build({
    ...options,
    outdir: "static/report",
    entryNames: "[name]",
    entryPoints: { report: "src/report/main.tsx", styles: "src/report/report.css" },
    format: "esm",
  });
  writeIndex({ ...pages.metafile.outputs, ...theme.metafile.outputs });
  writeLicences([pages, theme, report].flatMap(({ metafile }) => Object.keys(metafile.inputs)));
  compressAll();
}

function writeIndex(outputs) {
  const of = (entry) => {
    const found = Object.entries(outputs).find(([, output]) => output.entryPoint === entry);
    if (!found) throw new Error(`esbuild wrote nothing for ${entry}`);
    return found;
  };
  const address = (path) => `/assets/${basename(path)}`;
  // The entry only imports the file with the start of the page.
  const [{ path: main }] = of("src/main.tsx")[1].imports;
  const page = readFileSync(join(HERE, "src/index.html"), "utf8")
    .replace("%THEME%", address(of("src/theme.ts")[0]))
    .replace("%STYLES%", address(of("src/styles.css")[0]))
    .replace("%MAIN%", address(main));
  writeFileSync(join(STATIC, "index.html"), page);
}

function writeLicences(inputs) {
  const found = inputs.map((path) => path.match(/.*node_modules\/((@[^/]+\/)?[^/]+)/));
  const folders = [...new Set(found.map((match) => match?.[0]))].filter(Boolean).sort();
  const texts = folders.map((folder) => {
    const name = readdirSync(join(HERE, folder)).find((file) => /^licen[cs]e/i.test(file));
    if (!name) throw new Error(`${folder} has no file with its licence`);
    const { version } = read(join(HERE, folder, "package.json"));
    const title = `${folder.replace(/.*node_modules\//, "")} ${version}`;
    return `${title}\n\n${readFileSync(join(HERE, folder, name), "utf8").trim()}\n`;
  });
  writeFileSync(join(STATIC, "licences.txt"), texts.join(`\n${"-".repeat(80)}\n\n`));
}

function compressAll() {
  for (const folder of [STATIC, join(STATIC, "assets")]) {
    for (const name of readdirSync(folder).filter((name) => COMPRESSED.test(name))) {
      const content = readFileSync(join(folder, name));
      const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
      writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9, memLevel: 9 }));
      writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, quality));
    }
  }
}

async function buildTests() {
  const found = readdirSync(join(HERE, "tests"), { recursive: true });
  const names = found.filter((name) => /\.test\.tsx?$/.test(name));
  rmSync(join(HERE, "build/tests"), { recursive: true, force: true });
  mkdirSync(join(HERE, "build/tests"), { recursive: true });
  await build({
    ...common,
    entryPoints: names.map((name) => join("tests", name)),
    outdir: "build/tests",
    outExtension: { ".js": ".mjs" },
    format: "esm",
    platform: "node",
    target: "node18",
    sourcemap: "inline",
  });
}
