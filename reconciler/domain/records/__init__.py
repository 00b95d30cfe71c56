"""Notes, decisions, facts and their parts: frozen values that check themselves. No rule lives here.

A record imports records only, so every rule may use it.
"""
