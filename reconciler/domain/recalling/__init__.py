"""What is found again: ranking, a fact's history, the prompt, procedures as skills. Pure."""
