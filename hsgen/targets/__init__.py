"""Target files: TOML files with the facts of a device family and the parameters of its sorts.

The package has their schema, their reader (`target`), and the sorts that a target gives.
"""
