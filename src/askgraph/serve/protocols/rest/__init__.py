"""The REST interface, `/api/v1`: one router a file, each with what it takes and gives as models."""
