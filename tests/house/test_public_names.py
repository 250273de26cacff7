"""The library's public names are exactly what `__all__` says, each name with its documentation."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

import muxwire
import muxwire.sync


def public_names(module: ModuleType) -> set[str]:
    """What a reader would take for public: no underscore, not a submodule, not the `annotations` of `__future__`."""
    return {
        name
        for name in dir(module)
        if not name.startswith("_") and name != "annotations" and not isinstance(getattr(module, name), ModuleType)
    }


@pytest.mark.parametrize("module", [muxwire, muxwire.sync], ids=lambda module: module.__name__)
def test_all_is_the_public_names(module: ModuleType) -> None:
    declared = set(getattr(module, "__all__", ()))
    assert declared - {"__version__"} == public_names(module)
    for name in declared:
        assert hasattr(module, name), name


@pytest.mark.parametrize("module", [muxwire, muxwire.sync], ids=lambda module: module.__name__)
def test_every_public_name_says_what_it_is(module: ModuleType) -> None:
    silent = [
        name
        for name in public_names(module)
        if inspect.isclass(getattr(module, name)) | inspect.isfunction(getattr(module, name))
        and not inspect.getdoc(getattr(module, name))
    ]
    assert not silent
