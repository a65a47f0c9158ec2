"""Reports: one self-contained HTML page about targets, with drawings, launch plans, kernels and measurements.

`hsgen.tools.report.page` renders the page.  No module of this package writes a file or prints.
"""
