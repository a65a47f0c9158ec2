"""Target files: TOML files with the facts of a device family and the parameters of its sorts.

The package has their schema, their reader (`target`), and the assembly of sorts from their parameters (`assembly`).

A target file has tables with the parameters of algorithms for a key width, such as ``[radix.u32.onesweep]``.  A *label*
names such a table: the algorithm, with an optional *variant* as a suffix, as in "radix" or "radix-bits2".  The tables
``[sort.KEY]`` state the *ranges* of counts that each label serves in the sort "auto".  Parameters and ranges together
are the *choices* of a target.
"""
