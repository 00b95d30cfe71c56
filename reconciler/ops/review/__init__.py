"""Judgements about recorded decisions, and numbers of health. Pure."""
