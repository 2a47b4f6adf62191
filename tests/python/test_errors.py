import pickle

import pytest

import imgpack


def test_every_code_has_a_class_and_its_builtin():
    builtins = {
        "invalid_argument": ValueError, "not_found": FileNotFoundError, "already_exists": FileExistsError,
        "busy": Exception, "refused": Exception, "damaged": Exception, "unsupported": Exception, "io": OSError,
        "out_of_memory": MemoryError,
    }
    kinds = {kind.code: kind for kind in imgpack.Error.__subclasses__()}
    assert kinds.keys() == builtins.keys()
    for code, builtin in builtins.items():
        assert issubclass(kinds[code], builtin)
        assert str(kinds[code]("what happened")) == "what happened"  # how torch makes them anew in the main process


def test_not_found(tmp_path):
    path = str(tmp_path / "none.rec")
    with pytest.raises(FileNotFoundError) as caught:
        imgpack.Dataset(path)
    error = caught.value
    assert isinstance(error, imgpack.NotFoundError)
    assert (error.code, error.file, error.record, error.offset) == ("not_found", path, None, None)
    assert str(error) == f"{path}: {error.message}"


def test_damage_tells_its_place(packed, tmp_path):
    data = imgpack.Dataset(packed)
    bytes_ = bytearray(packed.read_bytes())
    where = bytes_.index(data.payload(7))
    bytes_[where:where + 200] = bytes(200)
    path = tmp_path / "damaged.rec"
    path.write_bytes(bytes_)
    with pytest.raises(imgpack.DamagedError) as caught:
        imgpack.Dataset(path).decode(7)
    error = caught.value
    assert error.code == "damaged" and error.file == str(path) and error.record == 7 and error.offset >= where
    assert "record 7" in str(error) and "record 7" not in error.message
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is imgpack.DamagedError and str(copy) == str(error)
    assert (copy.file, copy.record, copy.offset, copy.message) == (error.file, 7, error.offset, error.message)


def test_invalid_arguments(images, tmp_path):
    with pytest.raises(ValueError, match="'keep', 'jpeg', 'raw'") as caught:
        imgpack.build(images, tmp_path / "a.rec", encode="png")
    assert caught.value.code == "invalid_argument"
    with pytest.raises(imgpack.InvalidArgumentError):
        imgpack.build(images, tmp_path / "a.rec", encode="keep", resize=100)
    with pytest.raises(imgpack.InvalidArgumentError, match="on_error"):
        imgpack.build(images, tmp_path / "a.rec", on_error="ignore")
    with pytest.raises(TypeError, match="threads can't be -1"):
        imgpack.build(images, tmp_path / "a.rec", threads=-1)
    with pytest.raises(TypeError, match="no_such"):
        imgpack.build(images, tmp_path / "a.rec", no_such=1)
    assert list(tmp_path.iterdir()) == []
