"""imgpack view: contact sheets, and reports as a real browser shows them."""
import base64
import csv
import hashlib
import html.parser
import io
import json
import shutil
import signal
import subprocess

import numpy
import pytest
from PIL import Image

from imgpack_cli import FORMATS, files_below, imgpack, imgpack_json, start_until

HOSTILE_KEY = "<img src=x onerror=document.title='hacked'>\"&'</script><script>document.title='hacked'</script>"
HOSTILE_CLASS = "</script><b onmouseover=alert(1)>cat & \"dog\""
RECORDS = 14
DAMAGED_KEY = "train/damaged.jpg"


def photo(seed, size=(96, 64), kind="JPEG", **options):
    """A smooth random image, as a file."""
    pixels = numpy.random.default_rng(seed).integers(0, 256, (4, 4, 3), dtype=numpy.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).resize(size, Image.BICUBIC).save(file, kind, **options)
    return file.getvalue()


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """A packed file of two classes and two splits with a copy in both splits, a damaged record and a hostile key."""
    folder = tmp_path_factory.mktemp("view")
    source = folder / "source"
    source.mkdir()
    rows = []

    def add(content, label, split, key):
        path = source / f"{len(rows)}.img"
        path.write_bytes(content)
        rows.append([path.name, label, split, key])

    for i in range(8):
        add(photo(i), "cow", "train", f"train/cow{i}.jpg")
    add(photo(100), "cow", "train", DAMAGED_KEY)
    add(photo(101), "cow", "train", HOSTILE_KEY)
    add(photo(0, kind="PNG"), "cow", "train", "train/picture.png")
    add(photo(3), HOSTILE_CLASS, "val", "val/copy of cow3.jpg")
    add(photo(102, size=(12, 300)), HOSTILE_CLASS, "val", "val/narrow.jpg")
    add(photo(103, progressive=True), HOSTILE_CLASS, "val", "val/progressive.jpg")
    assert len(rows) == RECORDS
    with open(source / "list.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "label", "split", "key"])
        writer.writerows(rows)
    packed = folder / "cows.rec"
    imgpack("build", source / "list.csv", packed)
    content = bytearray(packed.read_bytes())
    payload = photo(100)
    at = content.index(payload) + len(payload) // 2
    content[at] ^= 0xFF
    packed.write_bytes(content)
    return packed


class Page(html.parser.HTMLParser):
    """The elements of a page: their attributes, and the text that directly follows their beginning, by id or else tag."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.texts = {}
        self.everything = ""
        self._open = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._open = dict(attributes).get("id", tag)

    def handle_data(self, data):
        self.everything += data
        if self._open:
            self.texts[self._open] = self.texts.get(self._open, "") + data

    def attributes(self, wanted):
        return [attributes for tag, attributes in self.elements if tag == wanted]

    def value(self, wanted):
        """data-value of the element with that id."""
        found, = [attributes for _, attributes in self.elements if attributes.get("id") == wanted]
        return int(found["data-value"])


def rendered(page, folder):
    """The document as headless Chromium has it once its scripts have run."""
    chromium = shutil.which("chromium")
    assert chromium, "chromium is needed for this test: apt-get install chromium"
    done = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                           f"--user-data-dir={folder}", "--virtual-time-budget=5000", "--dump-dom", page.as_uri()],
                          capture_output=True, text=True, timeout=180)
    assert done.returncode == 0 and "</html>" in done.stdout, done.stderr
    return Page(done.stdout)


def embedded(text):
    """The document that programs find in a page."""
    begin = text.index('id="imgpack-report">') + len('id="imgpack-report">')
    return json.loads(text[begin:text.index("</script>", begin)])


@pytest.fixture(scope="module")
def report(dataset, tmp_path_factory):
    """(the JSON document on standard output, the page's text, the page as a browser shows it)."""
    folder = tmp_path_factory.mktemp("report")
    page = folder / "report.html"
    document = imgpack_json("view", dataset, "-o", page, code=1)
    return document, page.read_text(), rendered(page, folder / "browser")


def test_standard_output_and_page_hold_the_same_document(report, dataset):
    document, text, _ = report
    assert embedded(text) == document == imgpack_json("view", dataset, "--json", code=1)
    assert document["records"] == RECORDS and document["class_count"] == 2
    assert document["splits"] == [{"name": "train", "records": 11}, {"name": "val", "records": 3}]
    assert {item["name"]: item["by_split"] for item in document["classes"]} == {HOSTILE_CLASS: [0, 3], "cow": [11, 0]}
    assert document["codecs"] == {"jpeg": 13, "png": 1}
    assert document["jpeg_kinds"] == {"4:2:0": 11, "progressive": 1}
    assert document["segment_index"]["records"] == 12
    assert document["segment_index"]["without"] == {"no JPEG: png": 1, "progressive": 1}
    assert document["orientations"] == {"1": 13}
    for name in ("width", "height", "aspect", "bytes"):
        assert sum(bucket["records"] for bucket in document["histograms"][name]) == RECORDS


def test_planted_duplicate_and_damage_are_found(report):
    document, _, page = report
    duplicates = document["duplicates"]
    assert (duplicates["groups"], duplicates["copies"], duplicates["class_conflicts"]) == (1, 1, 1)
    assert duplicates["leakage"] == {"groups": 1, "records": 2}
    group, = duplicates["listed"]
    assert group["leakage"] is True
    assert [member["key"] for member in group["members"]] == ["train/cow3.jpg", "val/copy of cow3.jpg"]
    damaged, = document["suspicious"]["damaged"]["listed"]
    assert damaged["key"] == DAMAGED_KEY and damaged["split"] == "train" and damaged["class"] == "cow"
    assert "checksum" in damaged["reason"]
    narrow, = document["suspicious"]["extreme_aspect"]["listed"]
    assert narrow["key"] == "val/narrow.jpg"
    assert document["suspicious"]["tiny"]["listed"][0]["reason"] == "only 12x300 pixels"
    assert DAMAGED_KEY in page.everything and "val/copy of cow3.jpg" in page.everything
    assert "leakage" in page.everything


def test_counts_in_the_rendered_page(report):
    document, _, page = report
    assert page.value("count-records") == RECORDS
    assert page.value("count-classes") == 2
    assert page.value("count-damaged") == 1
    assert page.value("count-copies") == 1
    assert page.value("count-leakage") == 2
    # What the page's own script has made: so it ran, and under the page's policy.
    assert page.texts["shown-classes"].strip() == "2 of 2 classes shown"
    assert page.attributes("html")[0]["data-records"] == str(RECORDS)
    figures = [attributes["data-record"] for attributes in page.attributes("figure")]
    damaged = document["suspicious"]["damaged"]["listed"][0]["record"]
    assert str(damaged) in figures


def test_hostile_names_are_texts(report):
    _, _, page = report
    assert page.texts["title"].strip() == "cows.rec – imgpack"
    assert HOSTILE_KEY in page.everything and HOSTILE_CLASS in page.everything
    images = page.attributes("img")
    assert images and all(image["src"].startswith("data:image/jpeg;base64,") for image in images)
    assert not page.attributes("b")
    assert len(page.attributes("script")) == 2
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)


def test_page_loads_nothing(report):
    _, text, page = report
    assert "://" not in text.replace(HOSTILE_KEY, "")
    assert not page.attributes("link") and not page.attributes("iframe")
    for _, attributes in page.elements:
        for name in ("src", "href", "srcset", "data", "action"):
            assert attributes.get(name, "data:").startswith("data:")
    policy = page.attributes("meta")[1]["content"]
    assert policy.startswith("default-src 'none'")
    script = text[text.rindex("<script>") + len("<script>"):text.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in policy
    for image in page.attributes("img"):
        picture = Image.open(io.BytesIO(base64.b64decode(image["src"].partition(",")[2])))
        assert picture.size == (int(image["width"]), int(image["height"])) and max(picture.size) <= 128


def test_report_is_bounded_by_limit(dataset, tmp_path):
    few = tmp_path / "few.html"
    imgpack("view", dataset, "-o", few, "--limit", "3", "--size", "32", code=1)
    sources = {image["src"] for image in Page(few.read_text()).attributes("img")}
    assert 1 <= len(sources) <= 3
    again = tmp_path / "again.html"
    imgpack("view", dataset, "-o", again, "--limit", "3", "--size", "32", "--threads", "1", code=1)
    assert again.read_bytes() == few.read_bytes()


def test_train_and_val_in_two_files(tmp_path):
    for name, seeds in (("train", (1, 2, 3)), ("val", (3, 4))):
        folder = tmp_path / name / "cat"
        folder.mkdir(parents=True)
        for seed in seeds:
            (folder / f"{name}{seed}.jpg").write_bytes(photo(seed))
        imgpack("build", tmp_path / name, tmp_path / f"{name}.rec")
    document = imgpack_json("view", tmp_path / "train.rec", tmp_path / "val.rec")
    assert document["records"] == 5 and [file["records"] for file in document["files"]] == [3, 2]
    assert document["duplicates"]["leakage"] == {"groups": 1, "records": 2}
    members = document["duplicates"]["listed"][0]["members"]
    assert [member["file"] for member in members] == [str(tmp_path / "train.rec"), str(tmp_path / "val.rec")]
    assert imgpack_json("view", tmp_path / "train.rec")["duplicates"]["groups"] == 0


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(name, images, packed, tmp_path):
    document = imgpack_json("view", packed[name], "-o", tmp_path / "a.html")
    assert document["records"] == len(files_below(images))
    assert document["files"][0]["format"] == name
    assert document["suspicious"]["damaged"] == {"count": 0, "listed": []}


# Contact sheets

def test_sheets(dataset, tmp_path):
    def sheet(name, *arguments, code):
        out = tmp_path / name
        document = imgpack_json("view", dataset, "-o", out, *arguments, code=code)
        with Image.open(out) as image:
            assert image.format == ("PNG" if name.endswith("png") else "JPEG")
            assert image.size == (document["width"], document["height"])
        return document

    order = sheet("order.png", code=1)
    assert order["shown"] == order["records"] == RECORDS and order["damaged_count"] == 1
    assert order["damaged_shown"][0]["key"] == DAMAGED_KEY
    classes = sheet("class.jpg", "--by", "class", "--per-class", "2", code=0)
    assert [(group["name"], group["records"], group["shown"]) for group in classes["groups"]] == [
        (HOSTILE_CLASS, 3, 2), ("cow", 11, 2)]
    splits = sheet("split.png", "--by", "split", "--limit", "4", code=0)
    assert [(group["name"], group["shown"]) for group in splits["groups"]] == [("train", 2), ("val", 2)]
    damage = sheet("damage.png", "--by", "damage", "--limit", "1", "--size", "64", code=1)
    assert damage["groups"] == [{"name": "damaged", "records": 1, "shown": 1}]
    val = sheet("val.png", "--split", "val", "--columns", "1", "--size", "100", code=0)
    assert val["shown"] == 3 and val["width"] == 100 + 2 * 32 and val["height"] > 3 * 100


def test_sheet_shows_the_pixels(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    red = Image.new("RGB", (200, 200), (200, 30, 40))
    red.save(source / "red.png")
    imgpack("build", source, tmp_path / "a.rec")
    imgpack("view", tmp_path / "a.rec", "-o", tmp_path / "a.png", "--size", "64")
    pixels = numpy.asarray(Image.open(tmp_path / "a.png").convert("RGB"))
    assert (pixels == (200, 30, 40)).all(axis=2).sum() == 64 * 64


def test_wrong_usage_of_view(dataset, tmp_path):
    def refused(*arguments, code="invalid_argument", says="-o"):
        error = imgpack_json("view", *arguments, code=2)["error"]
        assert error["code"] == code and says in error["message"], error

    refused(dataset, "-o", tmp_path / "a.gif", says=".png")
    refused(dataset, "-o", tmp_path / "a.html", "--by", "class", says="--by")
    refused(dataset, "-o", tmp_path / "a.png", "--size", "2048", "--columns", "1000", says="--columns")
    refused(dataset, "-o", tmp_path / "a.png", "--split", "test", code="not_found", says="test")
    refused(dataset, "-o", tmp_path / "a.png", "--class", "none", code="not_found", says="none")
    refused(dataset, "-o", tmp_path / "absent" / "a.png", code="not_found", says="")
    refused(tmp_path / "absent.rec", "-o", tmp_path / "a.png", code="not_found", says="")
    assert "-o sheet.png" in imgpack("view", dataset, code=2).err
    own = tmp_path / "own.html"
    shutil.copy(dataset, own)
    refused(own, "-o", own, "--overwrite", says="--output")
    assert own.read_bytes() == dataset.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["own.html"]


def test_nothing_is_replaced_unasked(dataset, tmp_path):
    out = tmp_path / "a.png"
    out.write_bytes(b"mine")
    assert imgpack_json("view", dataset, "-o", out, code=2)["error"]["code"] == "already_exists"
    assert out.read_bytes() == b"mine"
    done = imgpack("view", dataset, "-o", out, "--overwrite", "--quiet", "--split", "val")
    assert (done.out, done.err) == (b"", "") and out.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


def test_interrupted_view_leaves_nothing(many_images, tmp_path):
    imgpack("build", many_images, tmp_path / "many.rec")
    viewing = start_until("looking", "view", tmp_path / "many.rec", "-o", tmp_path / "a.html", "--threads", "1")
    viewing.send_signal(signal.SIGINT)
    _, err = viewing.communicate(timeout=60)
    assert viewing.returncode in (-signal.SIGINT, 128 + signal.SIGINT) and b"interrupted" in err
    assert [path.name for path in tmp_path.iterdir()] == ["many.rec"]


def test_many_classes_with_few_pictures_need_no_headings(tmp_path):
    for i in range(30):
        folder = tmp_path / "source" / f"class{i:02}"
        folder.mkdir(parents=True)
        (folder / "a.jpg").write_bytes(photo(i))
    imgpack("build", tmp_path / "source", tmp_path / "a.rec")
    document = imgpack_json("view", tmp_path / "a.rec", "-o", tmp_path / "a.png", "--by", "class", "--size", "64")
    assert len(document["groups"]) == document["shown"] == 30
    assert document["height"] < 10 * 64


def test_text_says_what_was_found(dataset, tmp_path):
    out = imgpack("view", dataset, "-o", tmp_path / "a.html", code=1).out.decode()
    assert "14 records" in out and "damaged" in out and "leakage" in out
