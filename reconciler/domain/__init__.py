"""The memory's own words and rules: frozen values and pure functions.

Nothing here uses a graph, a model, a clock or the environment, so every threshold can be tested
without an engine. Imports go only downwards in this list, and never in a circle::

    explanation   the reasons of a decision, in words
    tools         a model's tools: schemas, arguments, replies
    recalling     what is found again
    erasing       what an erasure removes
    reconciling   which facts a note meets, and what becomes of it
    gate          which candidates earn their place
    sessions      what a session says
    tasks         an agent's task
    values        when two ways of saying a value are the same
    records       what comes in, is decided and is kept
"""
