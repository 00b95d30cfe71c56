"""Readers of text: text in, findings out. They use no fact, no graph, no scope and no setting.

The words that they look for are data, under ``config/lexicon/``.
"""
