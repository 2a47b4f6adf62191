import io
import multiprocessing
import pickle
import threading

import numpy as np
import pytest
from PIL import Image

import imgpack


@pytest.fixture
def data(packed):
    return imgpack.Dataset(packed)


def test_describes_itself(data, packed):
    assert len(data) == 24 and data.path == packed and data.format == "rec"
    assert data.splits == ["train", "val"]
    assert [(split.name, split.begin, split.end) for split in data.info.splits] == [("train", 0, 18), ("val", 18, 24)]
    assert data.classes == [info.name for info in data.info.classes] == sorted(data.classes)
    assert data.class_to_idx == {name: index for index, name in enumerate(data.classes)}
    assert data.info.records == 24 and data.info.transform == {"encode": "keep"}
    assert data.info.payload_bytes == sum(len(data.payload(i)) for i in range(24))
    assert "24 records" in repr(data)


def test_records(data, images):
    for record in range(len(data)):
        file = images / data.key(record)
        assert data.payload(record) == file.read_bytes()
        assert data.find(data.key(record)) == record
        assert data.classes[data.label(record)] == file.parent.name
    assert data.find("train/none.JPEG") is None
    assert data.codec(0) == "jpeg"


def test_pixels_are_pillows(data):
    for record in range(len(data)):
        image = data.decode(record)
        expected = np.asarray(Image.open(io.BytesIO(data.payload(record))).convert("RGB"))
        assert image.dtype == np.uint8 and image.shape[:2] == data.size(record)
        np.testing.assert_array_equal(image, expected)
    image[:] = 7  # an array of one's own
    assert data.decode(len(data) - 1).tobytes() == expected.tobytes()


def test_an_array_outlives_its_dataset(packed):
    image = imgpack.Dataset(packed).decode(3)
    labels = imgpack.Dataset(packed).labels()
    np.testing.assert_array_equal(image, imgpack.Dataset(packed).decode(3))
    assert labels.sum() == 24


def test_labels_and_ranges(data):
    assert data.labels("val").tolist() == [0, 0, 1, 1, 2, 2]
    assert data.labels().dtype == np.int64 and len(data.labels()) == 24
    assert data.labels("train").tolist() == [data.label(i) for i in range(18)]
    assert data.select("val") == [(18, 24)] and data.select() == [(0, 24)]
    with pytest.raises(imgpack.NotFoundError, match="train, val"):
        data.select("test")


def test_record_numbers_are_pythons(data):
    assert data.key(-1) == data.key(23)
    for record in (24, -25, 2**62):
        for function in (data.key, data.label, data.codec, data.size, data.payload, data.decode):
            with pytest.raises(IndexError):
                function(record)


def test_unlabelled_images(tmp_path):
    (tmp_path / "flat").mkdir()
    Image.new("RGB", (5, 4), (1, 2, 3)).save(tmp_path / "flat" / "a.png")
    imgpack.build(tmp_path / "flat", tmp_path / "flat.rec")
    data = imgpack.Dataset(tmp_path / "flat.rec")
    assert data.labels().tolist() == [-1] and data.classes == [] and data.splits == []
    assert data.decode(0).tolist() == [[[1, 2, 3]] * 5] * 4
    with pytest.raises(imgpack.OutOfMemoryError):
        data.decode(0, max_pixels=19)


def test_pickles_by_path(data, monkeypatch, packed):
    monkeypatch.chdir(packed.parent)
    pickled = pickle.dumps(imgpack.Dataset(packed.name))
    monkeypatch.chdir("/")
    copy = pickle.loads(pickled)
    assert copy.fingerprint() == data.fingerprint() and copy.key(5) == data.key(5)


def test_another_dataset_at_the_path_is_noticed(images, tmp_path):
    path = tmp_path / "data.rec"
    imgpack.build(images, path)
    pickled = pickle.dumps(imgpack.Dataset(path))
    imgpack.build(images / "train", path, overwrite=True)
    with pytest.raises(imgpack.DamagedError, match="another dataset"):
        pickle.loads(pickled)


def _sum_of(data, record, answers):
    answers.put(int(data.decode(record).sum()))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes(data, method):
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    child = context.Process(target=_sum_of, args=(data, 2, answers))
    child.start()
    assert answers.get(timeout=120) == data.decode(2).sum()
    child.join()
    assert child.exitcode == 0


def test_threads_share_it(data):
    expected = [data.decode(i).tobytes() for i in range(len(data))]
    wrong = []

    def read(first):
        for i in range(first, first + 200):
            record = i % len(data)
            if data.decode(record).tobytes() != expected[record]:
                wrong.append(record)

    threads = [threading.Thread(target=read, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
