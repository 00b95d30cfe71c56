"""Commands that read a memory and do more than one call.

Facts by a name, erasures, and a dry run of the gate.
"""

from __future__ import annotations

import typer

from reconciler.agent_memory import note_to_check
from reconciler.domain.records.kinds import Category, SourceKind
from reconciler.entrypoints.erasure_rendering import erasures_view
from reconciler.entrypoints.fact_rendering import found_view
from reconciler.entrypoints.options import (
    Agent,
    AsJson,
    ContactId,
    MaybeAgent,
    MaybeContactId,
    MaybeLimit,
    Tenant,
    add_commands,
    bar,
    call_of,
    of_whom,
    reading,
    show,
)
from reconciler.entrypoints.rendering import assessment_view

policy_app = typer.Typer(no_args_is_help=True, help="Try the write gate's policy.")


def about(
    name: str,
    agent: Agent,
    contact: ContactId,
    all_contacts: bool = False,
    tenant: Tenant = None,
    limit: MaybeLimit = None,
    as_json: AsJson = False,
) -> None:
    """List the live facts that mention a name as whole words.

    Options:
        name: a person or a thing, as you would write it.
        all_contacts: also search the agent's other contacts.
    """
    asked_of = None if all_contacts else contact
    with reading(agent, asked_of, tenant) as memory:
        facts = of_whom(memory, agent, asked_of, tenant).recall_about(name, limit=limit)
    show(as_json, facts, lambda: found_view(facts, f"About {name}"))


def erasures(
    agent: MaybeAgent = None,
    contact: MaybeContactId = None,
    finish: bool = False,
    tenant: Tenant = None,
    limit: MaybeLimit = None,
    as_json: AsJson = False,
) -> None:
    """List the erasures, and how far each one got.

    Options:
        finish: finish the interrupted ones, in the whole store.
    """
    with reading(None if finish else agent, contact, tenant) as memory:
        if finish:
            with bar("records", None, as_json) as advance:
                finished = memory.finish_erasures(on_progress=advance)
        else:
            finished = call_of(memory, "erasures", agent, contact, tenant)(limit=limit)
    none = "No erasure is left to finish." if finish else "Nothing was forgotten."
    show(as_json, finished, lambda: erasures_view(finished, none))
    if finish and not all(erasure.is_finished and erasure.receipt.is_clean for erasure in finished):
        raise typer.Exit(1)


def policy_check(
    text: str,
    agent: str = "any",
    source_kind: SourceKind = SourceKind.USER_EXPLICIT,
    category: Category | None = None,
    topic: str | None = None,
    as_json: AsJson = False,
) -> None:
    """Show what each check of the gate finds in a note; no store is read or written.

    Options:
        text: the note, as it would be added.
        agent: the agent, which decides the domain.
        source_kind: the kind of source, which decides how far it is trusted.
        category: the category; default: read from the text.
        topic: the topic, for example work.
    """
    from reconciler.bootstrap import build_judge
    from reconciler.settings import load_settings

    candidate = note_to_check(
        text, agent_id=agent, source_kind=source_kind, category=category, topic=topic
    )
    assessment = build_judge(load_settings())(candidate).assessment
    show(as_json, assessment, lambda: assessment_view(assessment))


add_commands(policy_app, {"check": policy_check})

COMMANDS = {"about": about, "erasures": erasures}
"""The commands of this module, by name."""

GROUPS = {"policy": policy_app}
"""The groups of commands of this module, by name."""
