// What a packed dataset says about itself.
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nanobind/stl/vector.h>

#include "imgpack/dataset_info.h"
#include "imgpack/record.h"
#include "imgpack/store.h"
#include "python/native/bindings.h"
#include "python/native/text.h"

namespace imgpack::python {

namespace nb = nanobind;

namespace {

nb::dict text_dict(const std::map<std::string, std::string>& values) {
  nb::dict dict;
  for (const auto& [key, value] : values) dict[text(key)] = text(value);
  return dict;
}

void bind_parts(nb::module_& module) {
  nb::class_<ClassInfo>(module, "ClassInfo", "A class; its place in the list of classes is its label.")
      .def_prop_ro(
          "name", [](const ClassInfo& self) { return text(self.name); }, "Folder name or wnid.")
      .def_prop_ro(
          "words", [](const ClassInfo& self) { return text(self.words); }, "Human-readable; may be empty.")
      .def("__repr__", [](const ClassInfo& self) {
        return nb::str("ClassInfo(name={!r}, words={!r})").format(text(self.name), text(self.words));
      });
  nb::class_<Split>(module, "Split", "A named range of consecutive records, [begin, end).")
      .def_prop_ro(
          "name", [](const Split& self) { return text(self.name); }, "\"train\", \"val\", ...")
      .def_ro("begin", &Split::begin, "Its first record.")
      .def_ro("end", &Split::end, "One after its last record.")
      .def("__repr__", [](const Split& self) {
        return nb::str("Split(name={!r}, begin={}, end={})").format(text(self.name), self.begin, self.end);
      });
  nb::class_<LeftOut>(module, "LeftOut", "An entry of the source that did not become a record.")
      .def_prop_ro(
          "key", [](const LeftOut& self) { return text(self.key); }, "Its key as it would have been.")
      .def_prop_ro(
          "reason", [](const LeftOut& self) { return text(self.reason); }, "Why it can't be packed.")
      .def_ro("ignored", &LeftOut::ignored, "It is no image and not named like one: nothing was lost.")
      .def("__repr__", [](const LeftOut& self) {
        return nb::str("LeftOut(key={!r}, reason={!r}, ignored={})")
            .format(text(self.key), text(self.reason), self.ignored);
      });
  nb::class_<FieldSpec>(module, "FieldSpec", "A named value that every record has besides its label.")
      .def_prop_ro(
          "name", [](const FieldSpec& self) { return text(self.name); }, "The field's name.")
      .def_prop_ro(
          "type", [](const FieldSpec& self) { return text(to_string(self.type)); },
          "\"int64\", \"float32\" or \"bytes\".")
      .def_prop_ro(
          "shape", [](const FieldSpec& self) { return nb::tuple(nb::cast(self.shape)); },
          nb::sig("def shape(self) -> tuple[int, ...]"), "Empty for one number.")
      .def("__repr__", [](const FieldSpec& self) {
        return nb::str("FieldSpec(name={!r}, type={!r}, shape={})")
            .format(text(self.name), text(to_string(self.type)), nb::tuple(nb::cast(self.shape)));
      });
}

}  // namespace

void bind_description(nb::module_& module) {
  bind_parts(module);
  nb::class_<DatasetInfo>(module, "DatasetInfo", "What a packed dataset says about itself as a whole.")
      .def_ro("classes", &DatasetInfo::classes, "In order of their labels; empty where labels have no names.")
      .def_ro("splits", &DatasetInfo::splits, "One name may have several ranges, after a merge for instance.")
      .def_ro("fields", &DatasetInfo::fields, "Values that every record has besides its label.")
      .def_prop_ro(
          "transform", [](const DatasetInfo& self) { return text_dict(self.transform); },
          nb::sig("def transform(self) -> dict[str, str]"), "How payloads were made: {\"encode\": \"keep\"}.")
      .def_prop_ro(
          "source_kind", [](const DatasetInfo& self) { return text(self.source_kind); },
          "\"class-folders\", \"splits\", \"imagenet-tars\", ...")
      .def_prop_ro(
          "source_name", [](const DatasetInfo& self) { return text(self.source_name); },
          "The last component of the source's path.")
      .def_prop_ro(
          "tool_version", [](const DatasetInfo& self) { return text(self.tool_version); },
          "The version of imgpack that packed it.")
      .def_prop_ro(
          "metadata", [](const DatasetInfo& self) { return text_dict(self.metadata); },
          nb::sig("def metadata(self) -> dict[str, str]"), "Free-form values given to build().")
      .def_ro("records", &DatasetInfo::records, "Number of records.")
      .def_ro("payload_bytes", &DatasetInfo::payload_bytes, "Bytes of all images.")
      .def_ro("pixels", &DatasetInfo::pixels, "Sum of width x height.")
      .def_prop_ro(
          "content_digest",
          [](const DatasetInfo& self) -> nb::object {
            if (self.content_digest == 0) return nb::none();
            return text(fmt::format("{:016x}", self.content_digest));
          },
          nb::sig("def content_digest(self) -> str | None"),
          "Equal for equal content in whatever format; hexadecimal, None if unknown.")
      .def_ro("left_out_count", &DatasetInfo::left_out_count, "Entries of the source that did not become records.")
      .def_ro("ignored_count", &DatasetInfo::ignored_count, "How many of these are no images.")
      .def_ro("left_out", &DatasetInfo::left_out, "The first 1000 of them.")
      .def("__repr__", [](const DatasetInfo& self) {
        return nb::str("DatasetInfo(records={}, classes={}, splits={}, source_name={!r}, transform={})")
            .format(self.records, self.classes.size(), nb::cast(self.splits), text(self.source_name),
                    text_dict(self.transform));
      });
}

}  // namespace imgpack::python
