// Manifests of any bytes: either an Error that names the place, or a list whose entries fit what it says of itself.
#include <algorithm>
#include <cstdlib>
#include <span>
#include <string_view>

#include "formats/text.h"
#include "imgpack/error.h"
#include "mmap/file.h"
#include "packer/sources/scans.h"
#include "tests/support/files.h"
#include "tests/support/fuzz.h"

namespace {

using namespace imgpack;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_entry(const DatasetInfo& info, const SourceEntry& entry) {
  require(!entry.key.empty() && !entry.path.empty());
  require(entry.label >= kNoLabel);
  if (!info.classes.empty()) require(entry.label < static_cast<std::int64_t>(info.classes.size()));
  require(entry.split < std::max<std::size_t>(1, info.splits.size()));
  require(entry.fields.size() == info.fields.size());
  for (std::size_t i = 0; i < info.fields.size(); ++i) {
    if (info.fields[i].type != FieldType::bytes) require(entry.fields[i].size() == info.fields[i].value_size());
  }
}

void check_manifest(const std::filesystem::path& manifest, const SourceOptions& options) {
  try {
    SourceList list(options);
    scan_manifest(manifest, options, list);
    const auto source = std::move(list).finish();
    for (const FieldSpec& field : source->info().fields) require(!field.name.empty() && is_utf8(field.name));
    for (const Split& split : source->info().splits) require(is_utf8(split.name));
    SourceEntry entry;
    for (std::uint64_t i = 0; i < source->size(); ++i) {
      source->entry(i, entry);
      check_entry(source->info(), entry);
    }
  } catch (const Error& error) {
    require(error.code() == ErrorCode::damaged || error.code() == ErrorCode::refused);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const imgpack::testing::TempDir folder;
  static const SourceOptions options = {.work_dir = folder.path()};
  static const std::filesystem::path manifest = folder / "m.csv";
  // Stays open: ext4 writes a file that was cut and then closed to disk at once, which takes a thousand times longer.
  static File file = File::open(manifest, File::Mode::create);
  file.write_at(0, std::as_bytes(std::span(data, size)));
  file.truncate(size);
  is_manifest(manifest);
  check_manifest(manifest, options);
  return 0;
}

std::vector<std::vector<std::byte>> imgpack::testing::fuzz_seeds() {
  std::vector<std::vector<std::byte>> seeds;
  for (const std::string_view text : {
           std::string_view("path,label\na.jpg,1\nb.jpg,2\n"),
           std::string_view("\xef\xbb\xbfpath\tlabel\tsplit\tkey\r\na\tcat\ttrain\tk1\r\nb\tdog\tval\t\r\n"),
           std::string_view(
               "path,n:int64,box:float32[4],m:int64[2x2],s:bytes\n\"a,\"\"b\"\"\",5,1 2;3 4.5,1 2 3 4,x\n"),
           std::string_view("label,path,age,weight,name\ncat,\"a\nb\",3,1.5,ann\n,../c/./d,4,nan,\n"),
           std::string_view("path\n/abs/x\n\n./y//z/../w\n"),
       }) {
    const std::span<const std::byte> bytes = as_bytes(text);
    seeds.emplace_back(bytes.begin(), bytes.end());
  }
  return seeds;
}
