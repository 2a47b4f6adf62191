"""Programs that know nothing of imgpack read what it wrote."""
import io
import struct
import subprocess

import pytest

from imgpack_cli import FORMATS, files_below

RECORDS = 24


@pytest.fixture(scope="module")
def expected(images):
    """(key, label, payload) in the order of the records."""
    return [(key.decode(), int(key.split(b"/")[1][1:]) - 1, payload)
            for key, payload in sorted(files_below(images).items())]


def size_of_image(payload):
    from PIL import Image
    with Image.open(io.BytesIO(payload)) as image:
        image.load()
        return image.size


@pytest.mark.skipif("hdf5" not in FORMATS, reason="this build has no HDF5")
def test_h5py(packed, expected):
    import h5py
    with h5py.File(packed["hdf5"], "r") as file:
        offsets = file["offsets"][:]
        encoded = file["encoded"]
        assert len(offsets) == RECORDS + 1
        assert file["labels"][:].tolist() == [label for _, label, _ in expected]
        for i, (_, _, payload) in enumerate(expected):
            stored = encoded[int(offsets[i]):int(offsets[i]) + len(payload)].tobytes()
            assert stored == payload and size_of_image(stored)
        places = file["key_offsets"][:]
        keys = [file["keys"][begin:end].tobytes().decode() for begin, end in zip(places, places[1:])]
        assert keys == [key for key, _, _ in expected]


@pytest.mark.skipif("hdf5" not in FORMATS, reason="this build has no HDF5")
def test_h5dump(packed):
    listing = subprocess.run(["h5dump", "-n", packed["hdf5"]], check=True, capture_output=True, text=True).stdout
    for name in ("/encoded", "/offsets", "/labels", "/keys"):
        assert name in listing


@pytest.mark.skipif("lmdb" not in FORMATS, reason="this build has no LMDB")
def test_py_lmdb(packed, expected):
    import lmdb
    with lmdb.open(str(packed["lmdb"]), subdir=False, readonly=True, lock=False, max_dbs=16) as environment:
        with environment.begin() as transaction:
            for i, (_, _, payload) in enumerate(expected):
                value = transaction.get(b"%08d" % i)
                assert value == payload and size_of_image(value)


@pytest.mark.skipif("lmdb" not in FORMATS, reason="this build has no LMDB")
def test_mdb_stat(packed):
    done = subprocess.run(["mdb_stat", "-n", "-e", packed["lmdb"]], check=True, capture_output=True, text=True)
    entries = [line for line in done.stdout.splitlines() if line.strip().startswith("Entries:")]
    assert int(entries[0].split(":")[1]) >= RECORDS


def example_class():
    """tf.train.Example, built here so that TensorFlow is not needed."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="example_for_test.proto", package="tensorflow", syntax="proto3")

    def message(name, *fields):
        item = file.message_type.add(name=name)
        for number, (label, kind, field_name, type_name) in enumerate(fields, 1):
            item.field.add(name=field_name, number=number, label=label, type=kind, type_name=type_name)
        return item

    one, many = field.LABEL_OPTIONAL, field.LABEL_REPEATED
    message("BytesList", (many, field.TYPE_BYTES, "value", None))
    message("FloatList", (many, field.TYPE_FLOAT, "value", None))
    message("Int64List", (many, field.TYPE_INT64, "value", None))
    message("Feature", (one, field.TYPE_MESSAGE, "bytes_list", ".tensorflow.BytesList"),
            (one, field.TYPE_MESSAGE, "float_list", ".tensorflow.FloatList"),
            (one, field.TYPE_MESSAGE, "int64_list", ".tensorflow.Int64List"))
    features = message("Features", (many, field.TYPE_MESSAGE, "feature", ".tensorflow.Features.FeatureEntry"))
    entry = features.nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, label=one, type=field.TYPE_STRING)
    entry.field.add(name="value", number=2, label=one, type=field.TYPE_MESSAGE, type_name=".tensorflow.Feature")
    message("Example", (one, field.TYPE_MESSAGE, "features", ".tensorflow.Features"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("tensorflow.Example"))


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF


@pytest.mark.skipif("tfrecord" not in FORMATS, reason="this build has no TFRecord")
def test_tfrecord(packed, expected):
    example_type = example_class()
    content = packed["tfrecord"].read_bytes()
    index = packed["tfrecord"].with_name(packed["tfrecord"].name + ".idx")
    if not index.exists():
        index = packed["tfrecord"].with_suffix(".idx")
    places = [tuple(map(int, line.split(" "))) for line in index.read_text().splitlines()]
    at = 0
    for i, (key, label, payload) in enumerate(expected):
        length, length_crc = struct.unpack_from("<QI", content, at)
        body = content[at + 12:at + 12 + length]
        assert length_crc == masked_crc32c(content[at:at + 8])
        assert struct.unpack_from("<I", content, at + 12 + length)[0] == masked_crc32c(body)
        assert places[i] == (at, 12 + length + 4)
        feature = example_type.FromString(body).features.feature
        assert feature["image/encoded"].bytes_list.value[:] == [payload]
        assert feature["image/format"].bytes_list.value[0].upper() == b"JPEG"
        assert feature["image/class/label"].int64_list.value[0] == label
        assert feature["image/filename"].bytes_list.value[0].decode() == key
        assert (feature["image/width"].int64_list.value[0], feature["image/height"].int64_list.value[0]) == size_of_image(payload)
        at += 12 + length + 4
    assert at == len(content) and len(places) == RECORDS
