"""The implementation of the commands `hsgen validate`, `bench`, `tune`, `suggest`, `compile`, `report` and `doctor`.

None of the commands generates a bundle.
"""
