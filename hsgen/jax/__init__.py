"""Sorts for JAX with the signatures and results of its own functions; see docs/guides/jax.md."""

from hsgen.jax.sorting import argsort, method, sort, sort_key_val, top_k

__all__ = ["argsort", "method", "sort", "sort_key_val", "top_k"]
