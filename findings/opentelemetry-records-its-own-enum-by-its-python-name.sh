#!/usr/bin/env bash
# opentelemetry-semantic-conventions 0.66b2, with opentelemetry-sdk 1.45.2.
#
# Most engineers expect that the package's own enum member, given as the
# value of the package's own attribute, is recorded as the value that the
# convention names, or else is dropped as an invalid type.
#
# Seen: the member's Python name is recorded as text:
# 'GenAiOperationNameValues.EXECUTE_TOOL' instead of 'execute_tool', and for
# the gRPC status, where the convention says 0, 'RpcGrpcStatusCodeValues.OK'.
# A warning goes to the log. In a metric the two spellings are two series.
#
# Why it matters: dashboards that filter on the convention's value miss these
# spans, and a number has become a text. Write .value after each member.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
    'opentelemetry-semantic-conventions==0.66b2' 'opentelemetry-sdk==1.45.2'

cat > check.py <<'PY'
import logging

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.semconv._incubating.attributes.gen_ai_attributes import (
    GEN_AI_OPERATION_NAME,
    GenAiOperationNameValues,
)
from opentelemetry.semconv._incubating.attributes.rpc_attributes import (
    RPC_GRPC_STATUS_CODE,
    RpcGrpcStatusCodeValues,
)

logging.disable()
operation = GenAiOperationNameValues.EXECUTE_TOOL
status = RpcGrpcStatusCodeValues.OK
print("the convention says", repr(operation.value), repr(status.value))

with TracerProvider().get_tracer("check").start_as_current_span("call") as span:
    for name, member in ((GEN_AI_OPERATION_NAME, operation), (RPC_GRPC_STATUS_CODE, status)):
        span.set_attribute(name, member)
        print("span:", name, "=", repr(span.attributes[name]))

reader = InMemoryMetricReader()
calls = MeterProvider([reader]).get_meter("check").create_counter("calls")
for value in (operation, operation.value, operation):
    calls.add(1, {GEN_AI_OPERATION_NAME: value})
metric = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics[0]
for point in metric.data.data_points:
    print("metric:", dict(point.attributes), "count", point.value)
PY

cat > expected.txt <<'TXT'
the convention says 'execute_tool' 0
span: gen_ai.operation.name = 'GenAiOperationNameValues.EXECUTE_TOOL'
span: rpc.grpc.status_code = 'RpcGrpcStatusCodeValues.OK'
metric: {'gen_ai.operation.name': 'GenAiOperationNameValues.EXECUTE_TOOL'} count 2
metric: {'gen_ai.operation.name': 'execute_tool'} count 1
TXT

venv/bin/python -I check.py > seen.txt 2> errors.txt || cat errors.txt >> seen.txt
cat seen.txt
if diff -u expected.txt seen.txt > difference.txt; then
    echo "As described."
else
    cat difference.txt
    echo "This has changed: the output is not the one described above."
    exit 1
fi
