"""The rule: what a note is compared with, what becomes of it, what a restatement carries. Pure."""
