"""Dialects: for each kernel language, definitions of the functions, types and macros that kernel bodies may use.

The *contract* lists these functions, types and macros, the *words*.  A kernel's *body* is what its algorithm's template
renders.  The *prelude* of a sort is the text before its kernels, in which a dialect defines the words.
"""
