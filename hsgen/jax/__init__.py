"""Functions like jax.numpy.sort and jax.lax.top_k, with the same signatures and results, that run hsgen's sorts.

See docs/guides/jax.md.
"""

from hsgen.jax.sorting import argsort, method, sort, sort_key_val, top_k

__all__ = ["argsort", "method", "sort", "sort_key_val", "top_k"]
