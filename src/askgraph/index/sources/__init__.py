"""Sources of an index's resources: files of rows, results of queries, dumps."""
