"""The HTTP API: the memory's calls as paths under ``/v1``, with an OpenAPI document of them.

``app`` assembles it; ``agent_routes`` and ``operator_routes`` are the endpoints by profile;
``shapes`` are their answers and ``bodies`` their inputs, both made from the package's own records;
``answering`` has the common parts. No decision is made here. This needs the extra ``serve``.
"""
