"""Sorts of numpy arrays on a device, with copies to the device and back; see docs/guides/python.md."""

from hsgen.numpy.sorter import Sorter
from hsgen.numpy.sorting import Selected, SelectedEntries, argsort, sort, topk

__all__ = ["Selected", "SelectedEntries", "Sorter", "argsort", "sort", "topk"]
