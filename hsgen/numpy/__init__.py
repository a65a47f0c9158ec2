"""Sorts of numpy arrays on a device; each call copies its arrays to the device and back.  See docs/guides/python.md."""

from hsgen.numpy.sorter import Sorter
from hsgen.numpy.sorting import argsort, sort, topk
from hsgen.runners.row_numbers import Selected, SelectedEntries

__all__ = ["Selected", "SelectedEntries", "Sorter", "argsort", "sort", "topk"]
