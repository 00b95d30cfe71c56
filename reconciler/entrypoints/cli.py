"""The command line. Turns arguments into calls of ``Memory`` and errors into exit codes.

What one command alone needs it imports itself, so that no other waits for it.
"""

from __future__ import annotations

import gc
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.console import Group
from rich.text import Text
from typer.core import TyperGroup
from typer.models import CommandInfo, TyperInfo

from reconciler.domain.records.kinds import (
    Category,
    Disposal,
    GateReason,
    Relation,
    SourceKind,
)
from reconciler.domain.visible_text import visible
from reconciler.entrypoints.archive_commands import add_archive_commands
from reconciler.entrypoints.browser_commands import add_browser_commands
from reconciler.entrypoints.dispute_commands import add_dispute_commands
from reconciler.entrypoints.erasure_commands import add_erasure_commands
from reconciler.entrypoints.evidence_commands import add_evidence_commands
from reconciler.entrypoints.fact_commands import add_fact_commands
from reconciler.entrypoints.fading_commands import add_fading_commands
from reconciler.entrypoints.find_commands import add_find_commands
from reconciler.entrypoints.gate_commands import add_gate_commands
from reconciler.entrypoints.health_commands import add_health_commands
from reconciler.entrypoints.import_command import add_import_command
from reconciler.entrypoints.job_commands import add_job_commands
from reconciler.entrypoints.logs import quiet_the_driver
from reconciler.entrypoints.mcp_commands import add_mcp_commands
from reconciler.entrypoints.model_commands import add_model_commands
from reconciler.entrypoints.options import (
    Agent,
    AsJson,
    ContactId,
    Limit,
    MaybeContactId,
    MaybeLimit,
    MinConfidence,
    MinScore,
    OfAttribute,
    OfCategory,
    OfSubject,
    OfTags,
    OfTopic,
    Overwrite,
    SaidSince,
    SaidUntil,
    Tenant,
    TrustedAs,
    existing,
    of_whom,
    opened,
    parse_time,
    print_json,
    reading,
    show,
)
from reconciler.entrypoints.progress import bar
from reconciler.entrypoints.rejudge_command import add_rejudge_command
from reconciler.entrypoints.rendering import (
    contacts_table,
    decision_made,
    decisions_table,
    explanation_panel,
    history_tree,
    make_printable,
    recall_outcome,
    recall_table,
    terminal,
)
from reconciler.entrypoints.report_commands import add_report_commands
from reconciler.entrypoints.serve_commands import add_serve_commands
from reconciler.entrypoints.task_commands import add_task_commands
from reconciler.entrypoints.value_commands import add_value_commands
from reconciler.errors import (
    ConfigurationError,
    EmbeddingError,
    GraphLockedError,
    GraphStorageError,
    GraphUnavailableError,
    InvalidRequestError,
    ReconcilerError,
    SchemaError,
    UnknownContactError,
)
from reconciler.memory import Memory
from reconciler.named_secrets import without_secrets

if TYPE_CHECKING:
    from reconciler.domain.review.calibration import MeasuredPair
    from reconciler.domain.review.replay import Replayed

__all__ = ["app", "main"]

_EXIT_CODES: Mapping[type[ReconcilerError], int] = {
    UnknownContactError: 1,
    InvalidRequestError: 2,
    ConfigurationError: 3,
    GraphUnavailableError: 4,
    GraphLockedError: 4,
    GraphStorageError: 4,
    SchemaError: 5,
    EmbeddingError: 6,
    ReconcilerError: 1,
}
"""The first class that the error is an instance of; 2 is also what a wrong usage gives."""


class _Commands(TyperGroup):
    """The commands; what is said of a wrong usage repeats no secret that was typed."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        with _secrets_kept():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        with _secrets_kept():
            return super().invoke(ctx)


@contextmanager
def _secrets_kept() -> Iterator[None]:
    try:
        yield
    except ExceptionGroup:  # its message cannot be set, and it tells of no usage
        raise
    except Exception as error:
        if isinstance(said := getattr(error, "message", None), str):
            error.message = without_secrets(said)  # type: ignore[attr-defined]
        raise


_new_app = partial(
    typer.Typer,
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A memory for agents that reconciles every note before it is written.",
    epilog="Exit codes: 0 done, 1 failed, 2 wrong input, 3 configuration, 4 the graph is "
    "unavailable, locked or its disk full, 5 schema or model differs, 6 the model failed.",
)

_GROUPS: Mapping[str, str] = {
    "Start here": "demo add recall history contacts init doctor",
    "What is known about a contact": "briefing profile value about find evidence decisions explain "
    "tasks report browser",
    "Questions, disputes and corrections": "pending confirm reject withdraw disputes resolve "
    "relate amend revoke revert refusals expiring",
    "Memory for other programs": "mcp serve token",
    "Conversations read in the background": "extract worker jobs job retry drain",
    "Backup, export and erasure": "import export restore backup forget erasures archive "
    "unarchive reembed",
    "How well it works": "health rejudge policy correct calibrate replay",
}
"""Which commands a help lists under which heading, the first ones first."""

app = _new_app()
add_gate_commands(app)
add_dispute_commands(app)
add_fact_commands(app)
add_evidence_commands(app)
add_erasure_commands(app)
add_import_command(app)
add_job_commands(app)
add_mcp_commands(app)
add_serve_commands(app)
add_health_commands(app)
add_find_commands(app)
add_rejudge_command(app)
add_task_commands(app)
add_archive_commands(app)
add_model_commands(app)
add_value_commands(app)
add_fading_commands(app)
add_report_commands(app)
add_browser_commands(app)


def main() -> NoReturn:
    """Run the command line; an error of ours becomes one line and its exit code."""
    make_printable()
    quiet_the_driver()
    try:
        _app_of(sys.argv[1:2])()
    except ReconcilerError as error:
        terminal(stderr=True).print(Text("error:", style="red"), str(error))
        sys.exit(next(code for kind, code in _EXIT_CODES.items() if isinstance(error, kind)))
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        gc.freeze()  # else the interpreter looks through all objects again as it ends: 0.1 s
    sys.exit(0)


def _app_of(called: Sequence[str]) -> typer.Typer:
    """The command that is called alone; to look at the options of all takes as long as an answer.

    Where there is none of that name, as for ``--help``, all of them, to be listed.
    """
    wanted = [command for command in app.registered_commands if _name_of(command) in called]
    if not wanted:
        _group_commands()
        return app
    alone = _new_app()
    alone.registered_commands = wanted
    alone.callback()(lambda: None)  # else typer makes no group of a single command
    return alone


def _group_commands() -> None:
    """Put the commands under headings, in the order of those."""
    headings = {name: heading for heading, names in _GROUPS.items() for name in names.split()}
    places = {name: place for place, name in enumerate(headings)}
    app.registered_commands.sort(key=lambda command: places.get(_name_of(command), len(places)))
    for command in app.registered_commands:
        command.rich_help_panel = headings.get(_name_of(command), "Others")
    for group in app.registered_groups:
        group.rich_help_panel = headings.get(_name_of(group), "Others")


def _say_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"reconciler {metadata.version('graph-memory-reconciler')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """What stands before a command."""


def _name_of(command: CommandInfo | TyperInfo) -> str:
    return command.name or str(getattr(command.callback, "__name__", ""))


@app.command()
def init(
    accept_other_hash_key: Annotated[
        bool,
        typer.Option(
            "--accept-other-hash-key",
            help="Take this host's hash key from now on, where the store's own is lost. What was "
            "erased or proposed before is then not recognised.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Set up the store, or upgrade an older one; does nothing if it is up to date."""
    if accept_other_hash_key:
        from reconciler.bootstrap import accept_hash_key
        from reconciler.settings import load_settings

        accept_hash_key(load_settings())
    with Memory.open(migrate=True) as memory:
        engine = memory.describe()
        made = {**asdict(engine), "embedding_model": memory.model_move().model}
    show(as_json, made, lambda: f"Ready: {engine.engine} {engine.version} at {engine.location}")


@app.command()
def demo(
    here: Annotated[
        bool, typer.Option("--here", help="Use the configured store instead of a file of its own.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Watch 47 notes about five contacts being gated and reconciled, with the real model."""
    from reconciler.entrypoints.demo import run_demo
    from reconciler.resources import user_data_folder

    console = terminal(is_quiet=as_json)
    path = user_data_folder() / "demo.lbug"
    if not here:
        _remove_demo(path)
    where: dict[str, Any] = {} if here else {"graph": "embedded", "embedded_path": path}
    with Memory.open(warm_up=True, **where) as memory:
        decisions = run_demo(memory, console)
    if not here:
        console.print(_LOOK_AROUND.format(path=path, reconciler=_own_command()), soft_wrap=True)
    if as_json:
        print_json([decision.to_dict() for decision in decisions])


_LOOK_AROUND = """\
Look around in it:
  export RECONCILER_EMBEDDED_PATH={path}
  {reconciler} history --agent demo --contact dana
  {reconciler} decisions --agent demo --contact priya
  {reconciler} pending --agent demo"""


def _own_command() -> str:
    """What runs this program again: its name, or its path where a shell does not find it."""
    own, name = Path(sys.argv[0]), "reconciler"
    is_lost = own.name == name and shutil.which(name) != str(own.absolute())
    return str(own) if is_lost else name


@app.command()
def add(
    text: Annotated[str, typer.Argument(help="One fact, in one sentence.")],
    agent: Agent,
    contact: ContactId,
    subject: Annotated[
        str | None, typer.Option(help="Whom or what it is about; default: the contact.")
    ] = None,
    attribute: Annotated[str | None, typer.Option(help="The attribute, for example city.")] = None,
    value: Annotated[
        str | None, typer.Option(help="The attribute's value, for example Pune.")
    ] = None,
    single_valued: Annotated[
        bool | None,
        typer.Option(
            "--single-valued/--many-valued",
            help="For an attribute that is not a known one: whether it holds one value.",
        ),
    ] = None,
    tenant: Tenant = None,
    contact_name: Annotated[str | None, typer.Option(help="The contact's name.")] = None,
    source_kind: Annotated[
        SourceKind,
        typer.Option(metavar="KIND", help=f"Whose word it is: {', '.join(SourceKind)}."),
    ] = SourceKind.OPERATOR,
    source_reference: Annotated[
        str | None, typer.Option(help="Where its source can be looked up.")
    ] = None,
    said_at: Annotated[
        str | None, typer.Option(help="When it was said, ISO 8601 with a zone; default: now.")
    ] = None,
    valid_from: Annotated[
        str | None,
        typer.Option(
            help="Since when it is true, ISO 8601 with a zone; default: when it was said."
        ),
    ] = None,
    valid_to: Annotated[
        str | None,
        typer.Option(help="Until when it is true, ISO 8601 with a zone; default: no known end."),
    ] = None,
    lifetime_days: Annotated[
        int | None,
        typer.Option(help="After how many days it may have changed; default: by the policy."),
    ] = None,
    replaces: Annotated[
        list[str] | None,
        typer.Option(help="A fact whose place it takes, by id or handle; repeat for several."),
    ] = None,
    repeats: Annotated[
        str | None, typer.Option(help="A fact that says the same, by id or handle.")
    ] = None,
    ends: Annotated[
        list[str] | None,
        typer.Option(help="A fact that is over, by id or handle; repeat for several."),
    ] = None,
    importance: Annotated[
        float | None, typer.Option(help="Its importance, 0 to 1; default: judged from the words.")
    ] = None,
    category: Annotated[
        Category | None,
        typer.Option(
            metavar="NAME",
            help=f"The category: {', '.join(Category)}; default: read from the text.",
        ),
    ] = None,
    topic: Annotated[str | None, typer.Option(help="The topic, for example work.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="A tag to find it by; repeat for several.")
    ] = None,
    artefact: Annotated[
        str | None, typer.Option(help="A reference to what it points to; never fetched.")
    ] = None,
    proposed_by: Annotated[
        str, typer.Option(help="Who proposes it, and so may not confirm it.")
    ] = "operator",
    session: Annotated[
        str | None, typer.Option(help="The id of the session that it comes from.")
    ] = None,
    idempotency_key: Annotated[
        str | None, typer.Option(help="Calls with the same key make one decision.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add a note about a contact: the gate checks it, then it is compared with known facts."""
    with Memory.open(warm_up=True) as memory:
        decision = memory.add_contact_note(
            agent,
            contact,
            text,
            subject=subject,
            attribute=attribute,
            value=value,
            single_valued=single_valued,
            tenant=tenant,
            contact_name=contact_name,
            source_kind=source_kind,
            source_reference=source_reference,
            said_at=parse_time("--said-at", said_at),
            valid_from=parse_time("--valid-from", valid_from),
            valid_to=parse_time("--valid-to", valid_to),
            lifetime_days=lifetime_days,
            replaces=replaces or (),
            repeats=repeats,
            ends=ends or (),
            importance=importance,
            category=category,
            topic=topic,
            tags=tag or (),
            artefact=artefact,
            proposed_by=proposed_by,
            session_id=session,
            idempotency_key=idempotency_key,
        )
    show(as_json, decision.to_dict(), lambda: decision_made(decision))


@app.command()
def recall(
    agent: Agent,
    contact: ContactId,
    query: Annotated[
        str, typer.Argument(help="What to look for; default: rank all live facts.")
    ] = "",
    tenant: Tenant = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Return at most this many.")
    ] = None,
    budget_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Return as many facts as fit a prompt of this many tokens."),
    ] = None,
    attribute: OfAttribute = None,
    category: OfCategory = None,
    topic: OfTopic = None,
    tags: OfTags = None,
    subject: OfSubject = None,
    min_score: MinScore = None,
    min_confidence: MinConfidence = None,
    since: SaidSince = None,
    until: SaidUntil = None,
    trust: TrustedAs = None,
    as_of: Annotated[
        str | None, typer.Option(help="What the memory knew at this time; ISO 8601 with a zone.")
    ] = None,
    valid_at: Annotated[
        str | None,
        typer.Option(help="What was true at this time, or will be; ISO 8601 with a zone."),
    ] = None,
    prompt: Annotated[
        bool,
        typer.Option(
            "--prompt",
            help="Print the facts as a model gets them, fenced as data; with --json, print both.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Recall the live facts that fit a query best, with their ranking.

    What orders or forbids something is always included, beyond the limit and whatever the query.
    """
    with reading(agent, contact, tenant, warm_up=True) as memory:
        ranked = memory.contact(agent, contact, tenant=tenant).recall(
            query,
            limit=limit,
            budget_tokens=budget_tokens,
            attribute=attribute,
            category=category,
            topic=topic,
            tags=tags or None,
            subject=subject,
            min_score=min_score,
            min_confidence=min_confidence,
            since=parse_time("--since", since),
            until=parse_time("--until", until),
            trust=trust,
            as_of=parse_time("--as-of", as_of),
            valid_at=parse_time("--valid-at", valid_at),
        )
    from reconciler.domain.recalling.prompting import as_prompt, token_count

    asked, told = without_secrets(query), as_prompt(ranked)
    if prompt and not as_json:
        sys.stdout.write(told + "\n")
        return
    filters = (attribute, category, topic, subject, since, until, trust, min_score, min_confidence)
    is_filtered = bool(tags) or any(each is not None for each in filters)
    asks = ["passes every filter"] * is_filtered + [f"is near to: {asked}"] * bool(asked)
    that = f" that {' and '.join(asks)}" if asks else ""
    known = "was known" if as_of else "is known"
    nothing = f"Nothing {known} of contact {contact} of agent {agent}{that}"
    tokens, facts = token_count(told), [asdict(hit) for hit in ranked]
    kind = filter(None, [recall_outcome(ranked, nothing)])
    takes = (
        [f"As a prompt these take about {tokens:,} tokens; --prompt shows it."] if ranked else []
    )
    show(
        as_json,
        {"facts": facts, "prompt": told, "token_count": tokens} if prompt else facts,
        lambda: Group(*([recall_table(asked, ranked)] if ranked else []), *kind, *takes),
    )


@app.command()
def history(
    agent: Agent,
    contact: ContactId,
    fact: Annotated[str | None, typer.Option("--fact", help="Only this fact's chain.")] = None,
    at: Annotated[
        str | None, typer.Option(help="As the memory was at this time; ISO 8601 with a zone.")
    ] = None,
    png: Annotated[
        Path | None, typer.Option("--png", help="Also draw a timeline into this PNG file.")
    ] = None,
    overwrite: Overwrite = False,
    after: Annotated[
        str | None,
        typer.Option("--after", help="Only the chains that come after this fact's own."),
    ] = None,
    tenant: Tenant = None,
    limit: MaybeLimit = None,
    as_json: AsJson = False,
) -> None:
    """Show what superseded what, what was revoked or undone, and why."""
    instant = parse_time("--at", at)
    if png is not None:
        from reconciler.entrypoints.calibration_report import check_can_draw

        check_can_draw()
    with reading(agent, contact, tenant) as memory:
        chains = memory.contact(agent, contact, tenant=tenant).history(
            fact_id=fact, at=instant, after=after, limit=limit
        )
        name = _name_of_contact(memory, agent, contact, tenant) if png is not None else contact
    drawn: tuple[str, ...] = ()
    if png is not None and chains:
        from reconciler.bootstrap import write_new
        from reconciler.entrypoints.history_picture import history_png

        write_new(png, history_png(name, chains, instant), overwrite=overwrite)
        drawn = (f"Picture: {png}",)
    nothing = f"No fact is known of contact {contact} of agent {agent}."
    if at is not None:
        nothing = (
            f"Nothing was known of contact {contact} of agent {agent} then. "
            "What was true then, by all that is known now: reconciler recall --valid-at"
        )
    show(
        as_json,
        [asdict(chain) for chain in chains],
        lambda: Group(history_tree(contact, chains), *drawn) if chains else nothing,
    )


def _name_of_contact(memory: Memory, agent: str, contact: str, tenant: str | None) -> str:
    """The contact's name, or its id where it has none."""
    known = memory.agent(agent, tenant=tenant).contacts(contact)
    return next((each.name for each in known if each.name), contact)


@app.command()
def decisions(
    agent: Agent,
    contact: MaybeContactId = None,
    disposal: Annotated[
        Disposal | None, typer.Option(help="Only decisions that the gate disposed of in this way.")
    ] = None,
    reason: Annotated[
        GateReason | None, typer.Option(help="Only decisions made for this reason.")
    ] = None,
    door: Annotated[
        str | None,
        typer.Option(help="Only decisions through this door: live, import, proposal or operator."),
    ] = None,
    since: Annotated[
        str | None, typer.Option(help="Only decisions at or after this time; ISO 8601 with a zone.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="Only decisions before this time; ISO 8601 with a zone.")
    ] = None,
    tenant: Tenant = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List decisions with their reasons, refusals included, newest first."""
    with reading(agent, contact, tenant) as memory:
        made = of_whom(memory, agent, contact, tenant).decisions(
            disposal=disposal,
            reason=reason,
            door=door,
            since=parse_time("--since", since),
            until=parse_time("--until", until),
            limit=limit,
        )
    show(as_json, [decision.to_dict() for decision in made], lambda: decisions_table(made))


def _print_rules(is_wanted: bool) -> None:
    if is_wanted:
        from reconciler.domain.reconciling.limits import LIMITS
        from reconciler.domain.reconciling.rule import RULES, printed

        typer.echo(f"{printed(RULES)}\n{printed(LIMITS)}", nl=False)
        raise typer.Exit


@app.command()
def explain(
    decision_id: Annotated[
        str, typer.Argument(help="The decision's id, as `reconciler decisions` prints it.")
    ],
    agent: Agent,
    contact: ContactId,
    tenant: Tenant = None,
    as_json: AsJson = False,
    rules: Annotated[
        bool,
        typer.Option(
            "--rules",
            help="Print all rules and limits in order.",
            callback=_print_rules,
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Explain a decision in plain words, and what would have changed it."""
    with reading(agent, contact, tenant) as memory:
        explanation = memory.contact(agent, contact, tenant=tenant).explain(decision_id)
    del rules  # printed before anything is read
    show(as_json, explanation.to_dict(), lambda: explanation_panel(explanation))


@app.command()
def correct(
    decision_id: Annotated[
        str, typer.Argument(help="The decision's id, as `reconciler decisions` prints it.")
    ],
    relation: Annotated[
        Relation,
        typer.Argument(help="How the note really relates to the fact that it was compared with."),
    ],
    agent: Agent,
    contact: ContactId,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Record what a decision should have been, for calibration; no fact changes."""
    with Memory.open() as memory:
        decision = memory.contact(agent, contact, tenant=tenant).correct(decision_id, relation)
    show(
        as_json,
        decision.to_dict(),
        lambda: Text(f"Kept: {relation}. ").append(decision_made(decision)),
    )


@app.command(name="replay")
def replay_decisions(
    agent: Agent,
    profile: Annotated[str, typer.Option(help="seed, minilm, or a profile's TOML file.")],
    contact: Annotated[
        str | None, typer.Option("--contact", help="Only decisions about this contact.")
    ] = None,
    tenant: Tenant = None,
    as_json: AsJson = False,
) -> None:
    """Show what another profile would have decided on the recorded notes; write nothing."""
    from reconciler.domain.review.replay import summarise
    from reconciler.entrypoints.calibration_report import replay_changes_table, replay_table

    with reading(agent, contact, tenant) as memory:
        replayed = of_whom(memory, agent, contact, tenant).replay(profile)
    changed = [change for change in replayed if not change.is_same or change.would_ask]
    show(
        as_json,
        {
            "decisions": len(replayed),
            "changed": [_replayed_values(change) for change in changed],
        },
        lambda: Group(replay_table(summarise(replayed)), replay_changes_table(changed)),
    )


@app.command(name="calibrate")
def calibrate_thresholds(
    pairs: Annotated[
        Path | None, typer.Argument(callback=existing, help="Labelled pairs, JSON lines.")
    ] = None,
    from_decisions: Annotated[
        bool,
        typer.Option(
            "--from-decisions", help="Take labels from the arbiter's answers and from corrections."
        ),
    ] = False,
    agent: Annotated[
        str | None,
        typer.Option("--agent", help="With --from-decisions: the agent whose decisions to use."),
    ] = None,
    contact: Annotated[
        str | None, typer.Option("--contact", help="Only decisions about this contact.")
    ] = None,
    tenant: Tenant = None,
    bound: Annotated[
        float, typer.Option(help="The share of distinct pairs that may be superseded.")
    ] = 0.01,
    source: Annotated[
        list[str] | None,
        typer.Option(
            help="Choose thresholds from this source only, and report on all; repeat for several."
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="The profile's name.")] = "calibrated",
    folder: Annotated[
        Path, typer.Option(file_okay=False, help="The folder for NAME.toml and NAME.png.")
    ] = Path(),
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace them if they exist.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the model on labelled pairs; write a profile of thresholds and a picture.

    A line of PAIRS has "fact", "note" and "label" (same, update or distinct), and may have
    "source", "id", "fact_slot" and "note_slot".
    """
    from reconciler.domain.review.calibration import CalibrationGoal
    from reconciler.entrypoints.calibration_report import (
        calibration_tables,
        check_can_draw,
        draw_curves,
    )
    from reconciler.service.calibration import calibrate, provenance_of, write_profile

    if (pairs is None) is not from_decisions:
        raise InvalidRequestError("give either a file of labelled pairs or --from-decisions")
    goal = CalibrationGoal(
        false_supersession_max=bound, sources=frozenset(source) if source else None
    )
    made = _profile_files(folder, name, overwrite)
    check_can_draw()
    if pairs is None:
        measured, model_id = _measured_from_decisions(agent, contact, tenant)
    else:
        measured, model_id = _measured_from_file(pairs, as_json)
    report = calibrate(measured, embedding_model=model_id, goal=goal, name=name)
    measured_on = visible(pairs.name) if pairs else "recorded decisions"
    write_profile(report.profile, made[0], provenance_of(report, measured_on), overwrite=overwrite)
    draw_curves(report, made[1])
    show(
        as_json,
        report.to_dict() | {"files": [str(path) for path in made]},
        lambda: Group(
            calibration_tables(report),
            f"\nWritten: {made[0]}, {made[1]}\n"
            f"Use it with RECONCILER_RECONCILE__PROFILE={made[0].resolve()}",
        ),
    )


@app.command()
def contacts(
    agent: Agent,
    after: Annotated[
        str | None, typer.Option("--after", help="Only those that come after this contact's id.")
    ] = None,
    tenant: Tenant = None,
    limit: MaybeLimit = None,
    as_json: AsJson = False,
) -> None:
    """List an agent's contacts, by id."""
    with reading(agent, None, tenant) as memory:
        found = memory.agent(agent, tenant=tenant).contacts(after=after, limit=limit)
    show(as_json, [asdict(contact) for contact in found], lambda: contacts_table(found))


@app.command()
def doctor(
    as_json: AsJson = False,
    judge: Annotated[
        bool,
        typer.Option("--judge", help="Also ask the arbiter ten questions, which costs money."),
    ] = False,
) -> None:
    """Check engine, schema, model and round trip; exit code 1 if something is wrong."""
    from reconciler.entrypoints.doctor import checks_table, checkup
    from reconciler.settings import load_settings

    checks = checkup(load_settings(), asks_judge=judge)
    show(as_json, [asdict(check) for check in checks], lambda: checks_table(checks))
    if not all(check.is_ok for check in checks):
        raise typer.Exit(1)


def _profile_files(folder: Path, name: str, overwrite: bool) -> tuple[Path, Path]:
    """Where profile and picture go; what cannot be written is said before anything is measured."""
    from reconciler.service.calibration import check_profile_name

    check_profile_name(name)
    made = (folder / f"{name}.toml", folder / f"{name}.png")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = next(filter(Path.exists, made), None)
    except OSError as error:
        raise InvalidRequestError(f"{folder} cannot hold {name}.toml: {error.strerror}") from error
    if there is not None and not overwrite:
        raise InvalidRequestError(f"{there} exists; give --overwrite or another --name")
    return made


def _measured_from_file(file: Path, is_quiet: bool) -> tuple[list[MeasuredPair], str]:
    from reconciler.bootstrap import build_embedder
    from reconciler.config_files import load_attribute_book
    from reconciler.service.calibration import measure_pairs, read_pairs
    from reconciler.service.embedding import embed
    from reconciler.service.json_lines import read_lines
    from reconciler.settings import load_settings

    settings = load_settings()
    attributes = load_attribute_book(settings.reconcile.attributes_file)
    with opened(file) as stream:
        pairs = read_pairs(read_lines(stream), attributes)
    with (
        closing(build_embedder(settings)) as embedder,
        _progress(file.name, len(pairs), is_quiet) as advance,
    ):
        measured = measure_pairs(pairs, lambda texts: embed(embedder, texts), advance)
        return measured, embedder.model_id


def _measured_from_decisions(
    agent: str | None, contact: str | None, tenant: str | None
) -> tuple[list[MeasuredPair], str]:
    from reconciler.service.calibration import pairs_from_decisions

    if agent is None:
        raise InvalidRequestError("--from-decisions needs --agent: whose decisions")
    with Memory.open(must_exist=True) as memory:
        decisions = of_whom(memory, agent, contact, tenant).all_decisions()
        model = memory.model_move().model
        return pairs_from_decisions(decisions, model), model


def _replayed_values(replayed: Replayed) -> dict[str, Any]:
    return {
        "decision_id": replayed.decision.decision_id,
        "text": replayed.decision.text,
        "before": replayed.before,
        "after": replayed.after,
        "decided_by": replayed.verdict.decided_by,
        "reason": replayed.verdict.reason,
        "would_ask": replayed.would_ask,
    }


@contextmanager
def _progress(name: str, total: int | None, is_quiet: bool) -> Iterator[Callable[[int], None]]:
    with bar(name, total, is_quiet, has_end=True) as update:
        yield lambda count: update(advance=count)


def _remove_demo(path: Path) -> None:
    """Begin again; opened once first, so that a demo that is open elsewhere is left alone."""
    from reconciler.bootstrap import open_graph
    from reconciler.settings import load_settings

    if path.exists():
        open_graph(load_settings(graph="embedded", embedded_path=path)).close()
    for file in (path, path.with_name(f"{path.name}.wal")):
        file.unlink(missing_ok=True)
