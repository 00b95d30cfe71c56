"""The HTTP API: the memory's calls as paths under ``/v1``, with an OpenAPI document of them.

``app`` puts it together; ``agent_routes`` and ``operator_routes`` are the endpoints by profile;
``shapes`` and ``bodies`` are what they answer and take, both made of the package's own records;
``answering`` has what all endpoints share. Nothing is decided here. All of it needs the extra
``serve``.
"""
