"""Target files: their schema, reading them, and the sorts of a target."""
