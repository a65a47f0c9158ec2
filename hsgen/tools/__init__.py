"""What the commands do beyond generating: validate, bench, tune, suggest, compile, report, doctor."""
