"""The command ``reconciler``, and ``python -m reconciler``."""

import gc

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    # What is imported is no garbage: to look for some at every 700 objects takes a tenth of a
    # short command's time.
    gc.set_threshold(50_000, 20, 20)
    from reconciler.entrypoints.cli import main as run

    run()


if __name__ == "__main__":
    main()
