"""The command ``reconciler``, and ``python -m reconciler``."""

import gc


def main() -> None:
    """Run the command line."""
    # What is imported is no garbage. To look for some among it, at every 700 new objects, takes a
    # twentieth of a short command's time; a long one makes enough to be looked through.
    gc.set_threshold(500_000)
    from reconciler.entrypoints.cli import main as run

    run()


if __name__ == "__main__":
    main()
