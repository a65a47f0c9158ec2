"""The work of the commands that do not generate files: validate, bench, tune, suggest, compile, report, doctor."""
