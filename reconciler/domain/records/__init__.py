"""Notes, decisions, facts and their parts: frozen values that check themselves.

No rule is here. A record imports only records, so every rule may use it.
"""
