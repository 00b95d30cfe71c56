"""Reaching Neo4j: what to check if a server does not answer.

For a ``neo4j://`` address the driver only says that it got no routing information.
"""

from __future__ import annotations


def to_check(uri: str, setting: str, error: BaseException) -> str:
    """What to check, and the driver's reason.

    Args:
        uri: the server's address.
        setting: the setting or argument that holds the address, for the reader.
        error: the driver's error.
    """
    checks = f"check that the server runs, and host and port in {setting}"
    if uri.startswith("neo4j"):
        direct = uri.replace("neo4j", "bolt", 1)
        checks += f"; a single server may have to be named {direct}, because neo4j:// goes on to "
        checks += "the address that the server gives of itself"
    return f"{checks} ({_reason(error)})"


def _reason(error: BaseException) -> str:
    """The first line of the error, or of the first error in a group."""
    grouped = getattr(error.__cause__, "exceptions", ())
    text = str(grouped[0] if grouped else error).partition("\n")[0].rstrip(":")
    return text[:300] or type(error).__name__
