"""The machine's certificates are read once in a process of tests, and not for each client.

To read them takes 20 ms, and there are thousands of clients, nearly all of a server on the loopback
that has no certificate.
"""

from __future__ import annotations

from functools import cache

import httpcore2

__all__ = ["keep_certificates"]


def keep_certificates() -> None:
    """Have all clients share one context for TLS, which says the same for each."""
    httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)
