"""Reaching Neo4j: what to check if a server does not answer.

Of a ``neo4j://`` the driver itself says no more than that it got no routing information.
"""

from __future__ import annotations

__all__ = ["to_check"]


def to_check(uri: str, setting: str, error: BaseException) -> str:
    """What to check, and the driver's reason.

    Args:
        uri: the server's.
        setting: what names it, for the reader.
        error: the driver's.
    """
    checks = f"check that the server runs, and host and port in {setting}"
    if uri.startswith("neo4j"):
        direct = uri.replace("neo4j", "bolt", 1)
        checks += f"; a single server may have to be named {direct}, because neo4j:// goes on to "
        checks += "the address that the server gives of itself"
    return f"{checks} ({_reason(error)})"


def _reason(error: BaseException) -> str:
    """The first line of the error, or of what its group of errors holds first."""
    grouped = getattr(error.__cause__, "exceptions", ())
    text = str(grouped[0] if grouped else error).partition("\n")[0].rstrip(":")
    return text[:300] or type(error).__name__
