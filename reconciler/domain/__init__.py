"""The memory's own words and rules: frozen values and pure functions.

Nothing here knows a graph, a model, a clock or the environment; everything with a threshold is
therefore testable without an engine. Imports go inwards only: this package imports nothing of ours
but ``reconciler.errors``.
"""
