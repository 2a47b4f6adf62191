// imgpack.Dataset.
#include "imgpack/dataset.h"

#include <cstring>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "imgpack/error.h"
#include "python/native/arrays.h"
#include "python/native/bindings.h"
#include "python/native/released.h"
#include "python/native/text.h"

namespace imgpack::python {

namespace nb = nanobind;
namespace fs = std::filesystem;

namespace {

/// As Python counts: negative numbers from the end, IndexError outside.
std::uint64_t record_number(const Dataset& dataset, std::int64_t index) {
  const auto size = static_cast<std::int64_t>(dataset.size());
  if (index < -size || index >= size) {
    throw nb::index_error(fmt::format("record {} of a dataset of {}", index, size).c_str());
  }
  return static_cast<std::uint64_t>(index < 0 ? index + size : index);
}

std::string split_name(const std::optional<nb::str>& split) {
  return split ? bytes_of(*split) : std::string();
}

auto labels(const Dataset& self, const std::optional<nb::str>& split) {
  const std::string name = split_name(split);
  std::vector<std::int64_t> values;
  {
    const Released released;
    values = self.labels(self.select(name));
  }
  const std::size_t count = values.size();
  return to_array(std::move(values), count);
}

auto decode(const Dataset& self, std::int64_t record, std::uint64_t max_pixels) {
  const std::uint64_t number = record_number(self, record);
  DecodedImage image;
  {
    const Released released;
    image = self.decode(number, max_pixels);
  }
  return to_array(std::move(image.pixels), image.height, image.width, 3);
}

nb::bytes payload(const Dataset& self, std::int64_t record) {
  const std::uint64_t number = record_number(self, record);
  const auto read = [&](auto&& work) {
    const Released released;  // the disk may have to be waited for
    return work(self.store().bytes(number).payload);
  };
  const std::size_t size = read([](std::span<const std::byte> bytes) { return bytes.size(); });
  nb::object result = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!result.is_valid()) throw nb::python_error();
  char* const memory = PyBytes_AsString(result.ptr());
  read([&](std::span<const std::byte> bytes) { return std::memcpy(memory, bytes.data(), size); });
  return nb::borrow<nb::bytes>(result);
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> select(const Dataset& self, const std::optional<nb::str>& split) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const RecordRange& range : self.select(split_name(split))) ranges.emplace_back(range.begin, range.end);
  return ranges;
}

/// A path that leads to the same files from another working directory, and what is in them.
using Pickled = std::tuple<fs::path, std::uint64_t>;

Pickled pickled(const Dataset& self) {
  return {fs::absolute(self.path()), self.fingerprint()};
}

Dataset unpickled(const Pickled& state) {
  const auto& [path, fingerprint] = state;
  Dataset dataset = Dataset::open(path);
  if (dataset.fingerprint() != fingerprint) {
    throw Error(ErrorCode::damaged, "it is another dataset than the one that was pickled", {.file = path.string()});
  }
  return dataset;
}

std::optional<std::uint64_t> find(const Dataset& self, nb::str key) {
  return self.store().find(bytes_of(std::move(key)));
}

nb::list class_names(const Dataset& self) {
  nb::list names;
  for (const ClassInfo& info : self.info().classes) names.append(text(info.name));
  return names;
}

nb::dict class_to_idx(const Dataset& self) {
  nb::dict indices;
  std::size_t index = 0;
  for (const ClassInfo& info : self.info().classes) indices[text(info.name)] = index++;
  return indices;
}

nb::list split_names(const Dataset& self) {
  nb::list names;
  std::set<std::string_view> seen;
  for (const Split& split : self.info().splits) {
    if (seen.insert(split.name).second) names.append(text(split.name));
  }
  return names;
}

void bind_whole(nb::class_<Dataset>& dataset) {
  dataset
      .def(
          "__init__",
          [](Dataset* self, const fs::path& path) {
            const Released released;
            new (self) Dataset(Dataset::open(path));
          },
          nb::arg("path"),
          "Opens a packed file of any format, a manifest, a glob pattern, or the name of shards.\n\n"
          "Raises NotFoundError, DamagedError, UnsupportedError or InputOutputError.")
      .def("__len__", &Dataset::size)
      .def("__repr__",
           [](const Dataset& self) {
             return nb::str("imgpack.Dataset({!r}): {} records, {} classes, splits {}")
                 .format(text(self.path().string()), self.size(), self.info().classes.size(), split_names(self));
           })
      .def("__getstate__", &pickled)
      .def("__setstate__", [](Dataset& self, const Pickled& state) { new (&self) Dataset(unpickled(state)); })
      .def_prop_ro(
          "path", [](const Dataset& self) { return self.path(); }, "The file, or the pattern or manifest for several.")
      .def_prop_ro(
          "format", [](const Dataset& self) { return text(to_string(self.store().format())); },
          "\"rec\", \"lmdb\", \"hdf5\" or \"tfrecord\".")
      .def_prop_ro(
          "info", [](const Dataset& self) -> const DatasetInfo& { return self.info(); },
          nb::rv_policy::reference_internal, "All that the dataset says about itself.")
      .def_prop_ro("classes", &class_names, nb::sig("def classes(self) -> list[str]"),
                   "Names of the classes in order of their labels.")
      .def_prop_ro("class_to_idx", &class_to_idx, nb::sig("def class_to_idx(self) -> dict[str, int]"),
                   "Label of each class.")
      .def_prop_ro("splits", &split_names, nb::sig("def splits(self) -> list[str]"), "Names of the splits.")
      .def("fingerprint", &Dataset::fingerprint, nb::call_guard<Released>(),
           "A number that is equal for datasets of equal content, in whatever format.");
}

void bind_records(nb::class_<Dataset>& dataset) {
  dataset
      .def("select", &select, nb::arg("split") = nb::none(),
           "The ranges [begin, end) of a split's records in the order of the file; all records for None.\n\n"
           "Raises NotFoundError for an unknown split.")
      .def("labels", &labels, nb::arg("split") = nb::none(),
           "The labels of a split's records, or of all: int64, -1 where the source has none.")
      .def(
          "label",
          [](const Dataset& self, std::int64_t record) { return self.store().meta(record_number(self, record)).label; },
          nb::arg("record"), "The label of a record; -1 where the source has none.")
      .def(
          "key",
          [](const Dataset& self, std::int64_t record) { return text(self.store().key(record_number(self, record))); },
          nb::arg("record"), "The key of a record: its path below the source, \"train/n01440764/1.JPEG\".")
      .def(
          "codec",
          [](const Dataset& self, std::int64_t record) {
            return text(to_string(self.store().meta(record_number(self, record)).codec));
          },
          nb::arg("record"), "How the payload is encoded: \"jpeg\", \"png\", ..., \"raw_rgb8\", \"raw_rgb8_zstd\".")
      .def(
          "size",
          [](const Dataset& self, std::int64_t record) {
            const RecordMeta meta = self.store().meta(record_number(self, record));
            return std::pair(meta.height, meta.width);
          },
          nb::arg("record"), "Height and width of a record's image in pixels.")
      .def("payload", &payload, nb::arg("record"), "The stored bytes of a record: mostly the image file's own.")
      .def("decode", &decode, nb::arg("record"), nb::arg("max_pixels") = kDefaultMaxPixels,
           "The image of a record, uint8 [height, width, 3]: the pixels of Pillow's convert(\"RGB\").\n\n"
           "Raises DamagedError, UnsupportedError, or OutOfMemoryError for more than max_pixels.")
      .def("find", &find, nb::arg("key"), "The number of the record with that key, or None.");
}

}  // namespace

void bind_dataset(nb::module_& module) {
  nb::class_<Dataset> dataset(
      module, "Dataset",
      "A packed dataset, opened for reading; cheap to open, whatever its size.\n\n"
      "May be used by several threads at once and after a fork. Pickles by its path; unpickling raises DamagedError\n"
      "if another dataset lies there by then. Record numbers may be negative, as in a list; IndexError outside.");
  bind_whole(dataset);
  bind_records(dataset);
}

}  // namespace imgpack::python
