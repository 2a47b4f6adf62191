import re
import runpy
from pathlib import Path

from conftest import make_images

README = Path(__file__).parents[2] / "python" / "README.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)


def test_the_examples_run_as_they_stand(tmp_path, monkeypatch):
    assert EXAMPLES
    make_images(tmp_path / "imagenet")
    monkeypatch.chdir(tmp_path)
    Path("examples.py").write_text("\n".join(EXAMPLES))
    runpy.run_path("examples.py", run_name="__main__")
