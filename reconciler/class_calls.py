"""Calls that belong to a class, and refuse to be made on one of its objects.

Python lets a class method be called on an object, which it then knows nothing of: ``restore`` on
an open memory would restore into whichever store the settings name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from reconciler.errors import InvalidRequestError

if TYPE_CHECKING:
    class_call = classmethod
else:

    class class_call(classmethod):  # noqa: N801 - a decorator
        """A class method that raises ``InvalidRequestError`` when it is called on an object."""

        def __get__(self, instance: object, owner: type | None = None) -> Callable[..., Any]:
            if instance is None:
                return super().__get__(instance, owner)
            name, of_class = self.__func__.__name__, type(instance).__name__

            def refused(*_: object, **__: object) -> NoReturn:
                raise InvalidRequestError(
                    f"{name} knows nothing of this {of_class}, which is open already; call "
                    f"{of_class}.{name}(...) on the class, with the settings of the store that you "
                    "mean"
                )

            return refused
