// Writes build/api.ts: the types of the REST API, as docs/openapi.json describes it.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const description = new URL("../../../../docs/openapi.json", import.meta.url);
const { schemas } = JSON.parse(readFileSync(description, "utf8")).components;

/** The type of a schema. */
function typeOf(schema) {
  if (schema.$ref) return schema.$ref.split("/").at(-1);
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeOf))].join(" | ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.prefixItems) return `readonly [${schema.prefixItems.map(typeOf).join(", ")}]`;
  switch (schema.type) {
    case "array":
      return `ReadonlyArray<${typeOf(schema.items)}>`;
    case "object":
      return `Readonly<Record<string, ${typeOf(schema.additionalProperties ?? {})}>>`;
    case "integer":
      return "number";
    default:
      return schema.type ?? "unknown";
  }
}

/** A field: what a request may leave out, and a reply does without, is optional. */
function field(name, [key, schema], required) {
  const isSent = required.includes(key) || (!name.endsWith("Body") && "default" in schema);
  const words = schema.description ? `  /** ${schema.description} */\n` : "";
  return `${words}  readonly ${key}${isSent ? "" : "?"}: ${typeOf(schema)};\n`;
}

function declared([name, { properties = {}, required = [], description }]) {
  const fields = Object.entries(properties).map((each) => field(name, each, required));
  return `/** ${description} */\nexport interface ${name} {\n${fields.join("")}}\n`;
}

mkdirSync(new URL("build", import.meta.url), { recursive: true });
const text = Object.entries(schemas).map(declared).join("\n");
writeFileSync(new URL("build/api.ts", import.meta.url), text);
