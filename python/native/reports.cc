// What building and checking report.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "imgpack/build.h"
#include "imgpack/verify.h"
#include "python/native/bindings.h"
#include "python/native/text.h"

namespace imgpack::python {

namespace nb = nanobind;

namespace {

nb::list texts(const std::vector<std::string>& values) {
  nb::list list;
  for (const std::string& value : values) list.append(text(value));
  return list;
}

void bind_build_report(nb::module_& module) {
  nb::class_<DecodePaths>(module, "DecodePaths", "How many records are decoded in which way.")
      .def_ro("indexed_jpeg", &DecodePaths::indexed_jpeg, "By segments, only as far as a crop needs.")
      .def_ro("raw", &DecodePaths::raw, "Pixels already.")
      .def_ro("raw_zstd", &DecodePaths::raw_zstd, "Pixels once decompressed.")
      .def_ro("whole_jpeg", &DecodePaths::whole_jpeg, "JPEGs without a segment index.")
      .def_ro("other", &DecodePaths::other, "PNG, WebP, ...");
  nb::class_<BuildReport>(module, "BuildReport", "What a build or a conversion has done.")
      .def_ro("outputs", &BuildReport::outputs, "Files that were, or with dry_run would be, written.")
      .def_prop_ro(
          "format", [](const BuildReport& self) { return text(to_string(self.format)); },
          "\"rec\", \"lmdb\", \"hdf5\" or \"tfrecord\".")
      .def_prop_ro(
          "source_kind", [](const BuildReport& self) { return text(self.source_kind); },
          "\"class-folders\", \"splits\", \"imagenet-tars\", ...")
      .def_ro("entries", &BuildReport::entries, "Candidates in the source, after limit.")
      .def_ro("records", &BuildReport::records, "In the outputs; 0 with dry_run.")
      .def_ro("payload_bytes", &BuildReport::payload_bytes, "Bytes of all images.")
      .def_ro("resumed_entries", &BuildReport::resumed_entries, "Taken over from an interrupted build.")
      .def_ro("classes", &BuildReport::classes, "Number of classes.")
      .def_ro("splits", &BuildReport::splits)
      .def_ro("refused_count", &BuildReport::refused_count, "Entries that can't be packed.")
      .def_ro("ignored_count", &BuildReport::ignored_count, "Entries that are no images and not named like one.")
      .def_ro("left_out", &BuildReport::left_out, "The first 1000 of both.")
      .def_ro("decode_paths", &BuildReport::decode_paths, "Of the outputs' records.")
      .def_prop_ro(
          "warnings", [](const BuildReport& self) { return texts(self.warnings); },
          nb::sig("def warnings(self) -> list[str]"), "What the user might want to know.")
      .def_ro("seconds", &BuildReport::seconds, "Wall time.")
      .def("__repr__", [](const BuildReport& self) {
        return nb::str("BuildReport(records={}, entries={}, refused_count={}, ignored_count={}, outputs={})")
            .format(self.records, self.entries, self.refused_count, self.ignored_count, nb::cast(self.outputs));
      });
}

void bind_verify_report(nb::module_& module) {
  nb::class_<Damage>(module, "Damage", "One way in which a file breaks its promises.")
      .def_prop_ro(
          "file", [](const Damage& self) { return text(self.file); }, "The file.")
      .def_ro("record", &Damage::record, "The record's number in it, or None.")
      .def_ro("offset", &Damage::offset, "The byte in it, or None.")
      .def_prop_ro(
          "what", [](const Damage& self) { return text(self.what); }, "What is wrong.")
      .def("__repr__", [](const Damage& self) {
        return nb::str("Damage(file={!r}, record={}, offset={}, what={!r})")
            .format(text(self.file), nb::cast(self.record), nb::cast(self.offset), text(self.what));
      });
  nb::class_<VerifyReport>(module, "VerifyReport")
      .def_ro("records", &VerifyReport::records)
      .def_ro("payload_bytes", &VerifyReport::payload_bytes)
      .def_ro("damage_count", &VerifyReport::damage_count)
      .def_ro("damage", &VerifyReport::damage);
  nb::class_<SourceReport>(module, "SourceReport", "How a dataset compares with what its source holds now.")
      .def_prop_ro("good", &SourceReport::good, "Nothing is different, missing, or not in the source.")
      .def_ro("compared", &SourceReport::compared, "Records whose bytes equal their source's.")
      .def_ro("different_count", &SourceReport::different_count)
      .def_ro("different", &SourceReport::different,
              "Records whose bytes, label, split or fields are not the source's.")
      .def_ro("missing_count", &SourceReport::missing_count)
      .def_ro("missing", &SourceReport::missing, "Entries that could be packed but are not there.")
      .def_ro("extra_count", &SourceReport::extra_count)
      .def_ro("extra", &SourceReport::extra, "Records that the source does not have.")
      .def_ro("left_out_count", &SourceReport::left_out_count)
      .def_ro("left_out", &SourceReport::left_out, "Entries that are not there because they can't be packed.");
}

}  // namespace

void bind_reports(nb::module_& module) {
  bind_build_report(module);
  bind_verify_report(module);
}

}  // namespace imgpack::python
