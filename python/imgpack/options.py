"""Setting the attributes of the library's option objects from keyword arguments."""
from __future__ import annotations

from typing import Any, Mapping


def set_options(target: object, values: Mapping[str, Any]) -> None:
    """Sets what is not None. Raises TypeError, naming the option."""
    for name, value in values.items():
        if value is None:
            continue
        try:
            setattr(target, name, value)
        except TypeError:
            raise TypeError(f"{name} can't be {value!r}") from None
