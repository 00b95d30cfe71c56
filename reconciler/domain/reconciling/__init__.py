"""The rule: the facts that a note is compared with, its outcome, and restatements. Pure."""
