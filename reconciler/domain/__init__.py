"""The memory's own words and rules: frozen values and pure functions.

Nothing here uses a graph, a model, a clock or the environment, so every threshold can be tested
without an engine. Imports go only inwards, and never in a circle:

    review        explain, change one thing, measure
    reconciling which facts a note meets, what becomes of it sessions what a session says gate which
    candidates earn their place recalling what is found again guard what differs between two texts
    tasks an agent's task values when two ways of saying a value are the same records what comes in,
    is decided and is kept
"""
