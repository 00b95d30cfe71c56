"""``python -m reconciler`` is the command ``reconciler``."""

from reconciler.entrypoints.cli import main

if __name__ == "__main__":
    main()
