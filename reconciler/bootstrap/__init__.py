"""Bootstrap: builds every part from the settings. Only this folder knows all adapters.

``services.py`` wires the parts of an open memory. The other modules build or do one thing each for
it: the engine, the models, the policies, the gate, the hash key.
"""
