"""Recall: ranking, a fact's history, the prompt, procedures as skills. Pure."""
