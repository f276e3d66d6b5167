"""Where the resources of an index come from: files of rows, results of queries, dumps."""
