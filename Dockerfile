# The package with its model, for workers beside a Neo4j: docker compose --profile worker up --wait
# About 7 GB, nearly all of it PyTorch.
FROM python:3.11-slim
WORKDIR /app
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY reconciler reconciler
COPY cypher cypher
COPY config config
RUN pip install --no-cache-dir -c constraints.txt '.[onnx]' && useradd --create-home reconciler
USER reconciler
ENTRYPOINT ["reconciler"]
CMD ["worker"]
