"""The REST interface, `/api/v1`: one router a file, with the models that it takes and gives."""
