"""The HTTP API against its own OpenAPI document: no fault, and no answer that it does not name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import CHECKS, load_all_checks

from tests import faults
from tests.http_api import PRIYA, Api, serving_api_in
from tests.mcp_server import granted

load_all_checks()
_CHECKED = CHECKS.get_by_names(
    [
        *("not_a_server_error", "status_code_conformance", "content_type_conformance"),
        *("response_headers_conformance", "response_schema_conformance"),
        *("unsupported_method", "negative_data_rejection", "missing_required_header"),
    ]
)
_EXAMPLES = faults.times(4, 8)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with serving_api_in(tmp_path_factory.mktemp("api")) as running:
        yield running


@pytest.fixture(scope="module")
def known(api: Api) -> dict[str, str]:
    """Ids that there are, so that not every request asks for what there is not."""
    with api.client(granted("operator")) as client:
        ids = {"agent_id": "crm", "contact_id": "priya", "attribute": "city"}
        for city in ("Pune", "Goa"):
            note = {"text": f"Lives in {city}.", "attribute": "city", "value": city}
            decision = client.post(f"{PRIYA}/notes", json=note).json()
        said = {"messages": [{"role": "user", "content": "Lives in Goa."}], "session_id": "chat-1"}
        job = client.post(f"{PRIYA}/sessions", json=said).json()
        return ids | {
            "decision_id": decision["decision_id"],
            "fact_id": decision["fact_id"],
            "job_id": job["job_id"],
            "session_id": "chat-1",
        }


def _operations(api: Api) -> list[Any]:
    schema = schemathesis.openapi.from_url(f"{api.url}/openapi.json")
    return [found.ok() for found in schema.get_all_operations()]


@pytest.mark.slow
def test_no_request_gets_an_answer_that_the_document_does_not_name(
    api: Api, known: dict[str, str]
) -> None:
    headers = {"Authorization": f"Bearer {api.token(granted('operator'))}"}
    operations = _operations(api)
    assert len(operations) > 35
    for operation in operations:

        @settings(
            max_examples=_EXAMPLES,
            derandomize=True,
            database=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def ask(case: Any) -> None:
            asked = {name: known.get(name, value) for name, value in case.path_parameters.items()}
            case.path_parameters = asked
            case.call_and_validate(base_url=api.url, headers=headers, checks=_CHECKED)

        _given(operation)(ask)()


def _given(operation: Any) -> Any:
    from hypothesis import given

    return given(
        case=operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
        | operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)
    )
