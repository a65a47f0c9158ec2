"""The implementation of the commands `hsgen validate`, `bench`, `tune`, `suggest`, `compile`, `report` and `doctor`.

These commands generate no bundle.
"""
