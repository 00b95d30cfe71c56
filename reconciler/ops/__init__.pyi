"""The operations, for type checkers; ``__init__.py`` imports each when it is asked for."""

from reconciler.ops.reviews import (
    contact_page as contact_page,
    health as health,
    import_from as import_from,
    report as report,
)
from reconciler.ops.store_moves import (
    backup as backup,
    cancel_reembed as cancel_reembed,
    export as export,
    model_move as model_move,
    reembed as reembed,
    restore as restore,
)
from reconciler.ops.webhooks import digest as digest, resend as resend
