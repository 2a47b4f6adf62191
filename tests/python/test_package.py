import ast
import importlib.metadata
import inspect
from pathlib import Path

import imgpack

FOLDER = Path(imgpack.__file__).parent


def test_the_installed_package_is_tested():
    assert "site-packages" in FOLDER.parts
    assert importlib.metadata.version("imgpack") == imgpack.__version__


def test_it_is_typed():
    assert (FOLDER / "py.typed").exists()
    stub = ast.parse((FOLDER / "_imgpack.pyi").read_text())
    classes = {node.name for node in stub.body if isinstance(node, ast.ClassDef)}
    assert {"Dataset", "DatasetInfo", "BuildReport", "Loader"} <= classes


def test_everything_public_is_documented():
    undocumented = []
    for name in imgpack.__all__:
        item = getattr(imgpack, name)
        if not inspect.getdoc(item):
            undocumented.append(name)
        for member, value in vars(item).items() if inspect.isclass(item) else ():
            if not member.startswith("_") and (callable(value) or isinstance(value, property)) and not value.__doc__:
                undocumented.append(f"{name}.{member}")
    assert undocumented == []
