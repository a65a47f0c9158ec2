"""Target files: the schema, the reader, and the sorts of a target."""
