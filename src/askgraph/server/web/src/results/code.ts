// A query as code that runs it and reads its table.

/** The code by its language, for the address of a SPARQL endpoint. */
export function codeOf(address: string, query: string): Readonly<Record<string, string>> {
  return {
    SPARQL: query,
    Python: `from urllib.parse import urlencode

import pandas

query = ${inPython(query)}
address = "${address}?" + urlencode({"query": query})
table = pandas.read_csv(address, storage_options={"Accept": "text/csv"})
`,
    R: `query <- r"---(${query})---"
address <- paste0("${address}?query=", URLencode(query, reserved = TRUE))
table <- read.csv(url(address, headers = c(Accept = "text/csv")))
`,
  };
}

function inPython(query: string): string {
  return /"""|\\|"$/.test(query) ? JSON.stringify(query) : `"""${query}"""`;
}
