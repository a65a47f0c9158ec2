"""Target files: what they may say, reading them, and the sorts that follow from one."""
