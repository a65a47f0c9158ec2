"""Dialects: a dialect defines, for one kernel language such as CUDA C++, the functions, types and macros that kernel
bodies may use.

The *contract* is the list of these functions, types and macros, which are called *words*.  A kernel's *body* is what
its algorithm's template renders.  The *prelude* of a sort is the text before its kernels, in which a dialect defines
the words.
"""
