"""What comes in, is decided and is kept: frozen values that check themselves. No rule lives here.

A record imports records only, so every rule may use it.
"""
