"""Target files: TOML files with the facts about a device family and the parameters of its sorts.

The package has their schema, their reader (`target`), and the assembly of sorts from their parameters (`assembly`).

A target file has TOML tables with the parameters of an algorithm for a key width, such as ``[radix.u32.onesweep]``.
A *label* names the parameters: the algorithm, with an optional *variant* as a suffix, as in "radix" or "radix-bits2".
The sort "auto" uses different algorithms for small and large counts.  The tables ``[sort.KEY]``, such as
``[sort.u32]``, state its *ranges*: which label sorts which counts.  Parameters and ranges together are the *choices* of
a target.
"""
