"""Reports: one self-contained page of HTML about targets, with drawings, plans, kernels and measurements.

`hsgen.tools.report.page` puts it together; nothing here writes or prints.
"""
