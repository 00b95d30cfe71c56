"""The command that shows the demo, in a store of its own."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from reconciler.entrypoints.options import AsJson, print_json
from reconciler.entrypoints.rendering import terminal

_DAY_TO_ASK_ABOUT = 16
_LOOK_AROUND = """\
Look around in it:
  export RECONCILER_EMBEDDED_PATH={path}
  reconciler history --agent demo --contact dana
  reconciler history --agent demo --contact priya --at {day}
  reconciler decisions --agent demo --contact priya
  reconciler pending --agent demo
  reconciler disputes --agent demo
  reconciler report --agent demo --out demo.html"""


def demo(here: bool = False, as_json: AsJson = False) -> None:
    """Watch 48 notes about five contacts being gated and reconciled, with the real model.

    Options:
        here: use the configured store instead of a file of its own.
    """
    from reconciler.entrypoints.demo import first_day, run_demo
    from reconciler.resources import user_data_folder

    console = terminal(is_quiet=as_json)
    path = user_data_folder() / "demo.lbug"
    if not here:
        _remove_demo(path)
    decisions = run_demo(console, None if here else path)
    if not here:
        day = first_day() + timedelta(days=_DAY_TO_ASK_ABOUT)
        told = _LOOK_AROUND.format(path=path, day=day)
        console.print(told, soft_wrap=True)
    if as_json:
        print_json(decisions)


def _remove_demo(path: Path) -> None:
    """Remove the demo's store; it is opened first, so that a demo that runs elsewhere is kept."""
    from reconciler.bootstrap.chosen_models import open_graph
    from reconciler.settings import load_settings

    if path.exists():
        open_graph(load_settings(graph="embedded", embedded_path=path)).close()
    for file in (path, path.with_name(f"{path.name}.wal")):
        file.unlink(missing_ok=True)


COMMANDS = {"demo": demo}
"""The commands of this module, by name."""
