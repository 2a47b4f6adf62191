"""TFRecords between imgpack and a program that knows TensorFlow's format and nothing of imgpack.

usage: tfrecord_interop_test.py TFRECORD_SAMPLE EXAMPLE_PROTO

Here are a CRC and a frame reader of its own, and tf.train.Example as TensorFlow declares it, with a map: not the
declaration that imgpack is built from, which is only compared.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

SAMPLE, PROTO = sys.argv[1:3]


def make_crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC_TABLE = make_crc_table()


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def tensorflow_example_class():
    """tensorflow/core/example/{example,feature}.proto, built by hand."""
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="tensorflow_example.proto", package="tensorflow", syntax="proto3")

    def add(message, name, number, kind, repeated=False, type_name=None, oneof=None):
        entry = message.field.add(name=name, number=number, type=kind,
                                  label=field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL)
        if type_name:
            entry.type_name = ".tensorflow." + type_name
        if oneof is not None:
            entry.oneof_index = oneof

    add(file.message_type.add(name="BytesList"), "value", 1, field.TYPE_BYTES, repeated=True)
    add(file.message_type.add(name="FloatList"), "value", 1, field.TYPE_FLOAT, repeated=True)
    add(file.message_type.add(name="Int64List"), "value", 1, field.TYPE_INT64, repeated=True)
    feature = file.message_type.add(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, kind in enumerate(("bytes", "float", "int64"), 1):
        add(feature, kind + "_list", number, field.TYPE_MESSAGE, type_name=kind.capitalize() + "List", oneof=0)
    features = file.message_type.add(name="Features")
    entry = features.nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    add(entry, "key", 1, field.TYPE_STRING)
    add(entry, "value", 2, field.TYPE_MESSAGE, type_name="Feature")
    add(features, "feature", 1, field.TYPE_MESSAGE, repeated=True, type_name="Features.FeatureEntry")
    add(file.message_type.add(name="Example"), "features", 1, field.TYPE_MESSAGE, type_name="Features")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName("tensorflow.Example")
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


Example = tensorflow_example_class()


def read_frames(path):
    with open(path, "rb") as file:
        content = file.read()
    offset = 0
    while offset < len(content):
        size, size_crc = struct.unpack_from("<QI", content, offset)
        assert masked_crc(content[offset:offset + 8]) == size_crc, offset
        data = content[offset + 12:offset + 12 + size]
        assert len(data) == size, offset
        assert masked_crc(data) == struct.unpack_from("<I", content, offset + 12 + size)[0], offset
        yield offset, 16 + size, data
        offset += 16 + size


def write_frames(path, examples):
    with open(path, "wb") as file:
        for example in examples:
            data = example.SerializeToString()
            size = struct.pack("<Q", len(data))
            file.write(size + struct.pack("<I", masked_crc(size)) + data + struct.pack("<I", masked_crc(data)))


def listing(path):
    output = subprocess.run([SAMPLE, "list", path], check=True, stdout=subprocess.PIPE).stdout
    return [line.split("\t") for line in output.decode().splitlines()]


class Interop(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "set.tfrecord")

    def tearDown(self):
        self.folder.cleanup()

    def write_sample(self):
        subprocess.run([SAMPLE, "write", self.path], check=True)
        return [(offset, size, Example.FromString(data).features.feature)
                for offset, size, data in read_frames(self.path)]

    def test_crc_of_the_catalogue(self):
        # 0xe3069283, masked.
        self.assertEqual(masked_crc(b"123456789"), ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    def test_idx_has_the_frames(self):
        frames = self.write_sample()
        with open(self.path + ".idx") as file:
            lines = [tuple(map(int, line.split())) for line in file]
        self.assertEqual(lines, [(offset, size) for offset, size, _ in frames])
        self.assertEqual(len(lines), 7)

    def test_examples_say_what_the_dataset_says(self):
        frames = self.write_sample()
        rows = listing(self.path)
        self.assertEqual(len(rows), len(frames))
        for (key, label, name, width, height, codec, size, _), (_, _, feature) in zip(rows, frames):
            def only(what, kind):
                values = getattr(feature[what], kind + "_list").value
                self.assertEqual(len(values), 1, what)
                return values[0]
            image = only("image/encoded", "bytes")
            self.assertEqual(len(image), int(size))
            self.assertEqual(image[:2], b"\xff\xd8" if codec == "jpeg" else b"\x89P")
            self.assertEqual(only("image/format", "bytes").decode(), codec.upper())
            self.assertEqual(only("image/class/label", "int64"), int(label))
            self.assertEqual(only("image/class/text", "bytes").decode(), name)
            self.assertEqual(only("image/filename", "bytes").decode(), key)
            self.assertEqual(only("image/height", "int64"), int(height))
            self.assertEqual(only("image/width", "int64"), int(width))
            self.assertEqual(only("image/channels", "int64"), 3)

    def test_fields_and_split(self):
        frames = self.write_sample()
        for number, (_, _, feature) in enumerate(frames):
            self.assertEqual(list(feature["field/id"].int64_list.value), [-7 * number])
            box = feature["field/box"].float_list.value
            self.assertEqual((len(box), box[0], box[1]), (4, number, 0))
            self.assertEqual(list(feature["field/note"].bytes_list.value), [b"\xff" * number])
            self.assertEqual(list(feature["imgpack/split"].bytes_list.value), [b"train" if number < 3 else b"val"])
            self.assertEqual("imgpack/dataset" in feature, number == 0)

    def test_the_payload_ends_the_data(self):
        self.write_sample()
        for _, _, data in read_frames(self.path):
            image = Example.FromString(data).features.feature["image/encoded"].bytes_list.value[0]
            self.assertTrue(data.endswith(image))

    def test_a_file_by_others_opens(self):
        images = [b"\xff\xd8 one", b"\x89PNG two", b"three"]
        examples = []
        for number, image in enumerate(images):
            example = Example()
            feature = example.features.feature
            feature["image/encoded"].bytes_list.value.append(image)
            feature["image/format"].bytes_list.value.append([b"JPEG", b"png", b"what"][number])
            feature["image/class/label"].int64_list.value.append(number)
            feature["image/class/text"].bytes_list.value.append([b"cat", b"dog", b"eel"][number])
            feature["image/filename"].bytes_list.value.append(b"file%d" % number)
            feature["image/width"].int64_list.value.append(640)
            feature["image/height"].int64_list.value.append(480)
            feature["image/object/bbox/xmin"].float_list.value.extend([0.25, 0.5])
            feature["image/object/class/label"].int64_list.value.extend([1, 2, 3])
            feature["empty"].SetInParent()
            examples.append(example)
        write_frames(self.path, examples)
        rows = [row[:7] for row in listing(self.path)]
        self.assertEqual(rows, [["file0", "0", "cat", "640", "480", "jpeg", "6"],
                                ["file1", "1", "dog", "640", "480", "png", "8"],
                                ["file2", "2", "eel", "640", "480", "unknown", "5"]])

    def test_a_file_without_its_index_lists_the_same(self):
        self.write_sample()
        before = listing(self.path)
        os.remove(self.path + ".imgpack")
        self.assertEqual(listing(self.path), before)

    def test_rewritten_by_others_it_lists_the_same(self):
        frames = self.write_sample()
        before = listing(self.path)
        other = os.path.join(self.folder.name, "other.tfrecord")
        # Another program's maps have another order.
        write_frames(other, [Example.FromString(data) for _, _, data in read_frames(self.path)])
        self.assertEqual(listing(other), before)
        self.assertEqual(len(frames), len(before))

    def test_declarations_agree(self):
        """The .proto that imgpack is built from has the numbers and types of TensorFlow's."""
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "set.pb")
            subprocess.run(["protoc", "-I", os.path.dirname(PROTO), "--descriptor_set_out=" + out, PROTO], check=True)
            with open(out, "rb") as file:
                ours = descriptor_pb2.FileDescriptorSet.FromString(file.read()).file[0]
        self.assertEqual(ours.package, "imgpack.tfrecord")

        def shape(message):
            return [(f.number, f.name, f.type, f.label, re.sub(r".*\.", "", f.type_name)) for f in message.field]
        theirs = Example.DESCRIPTOR.file
        for message in ours.message_type:
            if message.name == "NamedFeature":
                entry = theirs.message_types_by_name["Features"].nested_types_by_name["FeatureEntry"]
            else:
                entry = theirs.message_types_by_name[message.name]
            expected = descriptor_pb2.DescriptorProto()
            entry.CopyToProto(expected)
            expected_shape = [tuple(item) for item in shape(expected)]
            if message.name == "Features":
                expected_shape = [(n, name, kind, label, "NamedFeature") for n, name, kind, label, _ in expected_shape]
            self.assertEqual(shape(message), expected_shape)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
