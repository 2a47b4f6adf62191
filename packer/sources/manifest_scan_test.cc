#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packer/sources/field_cells.h"
#include "packer/sources/scan_testing.h"
#include "packer/sources/scans.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;
using namespace imgpack::testing;
using Names = std::vector<std::string>;
using Labels = std::vector<std::int64_t>;

/// Writes `text` as a manifest and opens it.
struct Manifest {
  TempDir data, work;
  std::unique_ptr<Source> open(std::string_view text, const char* name = "m.csv") const {
    write_file(data / name, text);
    return open_in(work, data / name);
  }
  Error error(std::string_view text) const {
    return error_of([&] { open(text); });
  }
};

template <typename T>
std::vector<T> values_of(const std::string& field) {
  std::vector<T> values(field.size() / sizeof(T));
  std::memcpy(values.data(), field.data(), values.size() * sizeof(T));
  return values;
}

TEST_CASE("a manifest of paths and labels, read relative to where it lies") {
  const Manifest m;
  write_file(m.data / "images/a.jpg", "image a");
  const auto source = m.open("path,label\nimages/a.jpg,3\nimages/b.jpg,\nimages/c.jpg,-1\n");
  CHECK(source->info().source_kind == "manifest");
  CHECK(source->info().source_name == "m.csv");
  CHECK(keys_of(*source) == Names{"images/a.jpg", "images/b.jpg", "images/c.jpg"});
  CHECK(labels_in(*source) == Labels{3, -1, -1});
  CHECK(source->info().classes.empty());
  CHECK(source->info().splits.empty());
  CHECK(read_text(*source, entry_named(*source, "images/a.jpg")) == "image a");
  CHECK(error_of([&] { read_text(*source, entry_named(*source, "images/b.jpg")); }).code() == ErrorCode::refused);
}

TEST_CASE("labels that are not all numbers are names of classes") {
  const Manifest m;
  const auto source = m.open("label,path\nzebra,1\n10,2\n,3\nant,4\n9,5\nzebra,6\n");
  CHECK(class_names(*source) == Names{"10", "9", "ant", "zebra"});
  CHECK(labels_in(*source) == Labels{3, 0, -1, 2, 1, 3});
}

TEST_CASE("splits come in the order in which they first appear, rows keep theirs within a split") {
  const Manifest m;
  const auto source = m.open("path,split\n1,val\n2,train\n3,val\n4,train\n5,extra\n");
  CHECK(split_names(*source) == Names{"val", "train", "extra"});
  CHECK(keys_of(*source) == Names{"1", "3", "2", "4", "5"});
}

TEST_CASE("quotes, line ends, byte order mark, empty lines, spaces in the header") {
  const Manifest m;
  const auto source = m.open(
      "\xef\xbb\xbf\r\n path , label\r\n"
      "\"comma, and \"\"quotes\"\".jpg\",a\r\n"
      "\r\n"
      "\"line\nend.jpg\",\"b\"\r\n"
      "5\" disk.jpg,\" c \"\n"
      " spaced.jpg ,\"\"");
  CHECK(keys_of(*source) == Names{"comma, and \"quotes\".jpg", "line\nend.jpg", "5\" disk.jpg", " spaced.jpg "});
  CHECK(class_names(*source) == Names{" c ", "a", "b"});
  CHECK(labels_in(*source) == Labels{1, 2, 0, -1});
}

TEST_CASE("tabs by name or by content") {
  const Manifest m;
  for (const char* name : {"m.tsv", "m.csv", "list.txt", "M.TSV", "manifest"}) {
    CAPTURE(name);
    CHECK(keys_of(*m.open("path\tlabel\na,b.jpg\tx\n", name)) == Names{"a,b.jpg"});
  }
  CHECK(keys_of(*m.open("label,path\n1,a.jpg\n", "list.txt")) == Names{"a.jpg"});
  write_file(m.data / "notes.txt", "the path, a label\n");
  CHECK_FALSE(is_manifest(m.data / "notes.txt"));
  CHECK_FALSE(is_manifest(m.data.path()));
  CHECK_FALSE(is_manifest(m.data / "missing.csv"));
}

TEST_CASE("keys: the key column, else the path without what leads out of a folder") {
  const Manifest m;
  const auto source =
      m.open("path,key\na/b.jpg,\n/data/x.jpg,\n../up/y.jpg,\n./c//d/../z.jpg,\nnamed.jpg,my/key\n../../..,\n");
  CHECK(keys_of(*source) == Names{"a/b.jpg", "data/x.jpg", "up/y.jpg", "c/z.jpg", "my/key", "../../.."});
  CHECK(entry_named(*source, "data/x.jpg").path == "/data/x.jpg");
}

TEST_CASE("absolute paths and paths upwards are read where they lead") {
  const Manifest m;
  const TempDir elsewhere;
  write_file(elsewhere / "x.jpg", "far");
  write_file(m.data / "y.jpg", "up");
  fs::create_directories(m.data / "sub");
  const auto source = m.open("path,key\n" + (elsewhere / "x.jpg").native() + ",far\n../y.jpg,up\n", "sub/m.csv");
  CHECK(read_text(*source, entry_named(*source, "far")) == "far");
  CHECK(read_text(*source, entry_named(*source, "up")) == "up");
}

TEST_CASE("further columns become fields of inferred types") {
  const Manifest m;
  const auto source = m.open("path,age,weight,name,mixed\n1,42,1.5,ann,7\n2,-7,2,bob,\n3,0,nan,\"a,b\",8\n");
  const std::vector<FieldSpec> expected = {{"age", FieldType::int64, {}},
                                           {"weight", FieldType::float32, {}},
                                           {"name", FieldType::bytes, {}},
                                           {"mixed", FieldType::bytes, {}}};
  CHECK(source->info().fields == expected);
  const std::vector<SourceEntry> entries = entries_of(*source);
  CHECK(values_of<std::int64_t>(entries[1].fields[0]) == std::vector<std::int64_t>{-7});
  CHECK(values_of<float>(entries[0].fields[1]) == std::vector<float>{1.5f});
  CHECK(entries[2].fields[2] == "a,b");
  CHECK(entries[1].fields[3].empty());
}

TEST_CASE("declared fields, with shapes") {
  const Manifest m;
  const auto source = m.open(
      "path,id:int64,box:float32[4],grid:int64[2x3],zip:bytes,one:float32\n"
      "1,5,0.5 1 2;3.25,1 2 3 4 5 6,00501,7\n");
  const std::vector<FieldSpec> expected = {{"id", FieldType::int64, {}},
                                           {"box", FieldType::float32, {4}},
                                           {"grid", FieldType::int64, {2, 3}},
                                           {"zip", FieldType::bytes, {}},
                                           {"one", FieldType::float32, {}}};
  CHECK(source->info().fields == expected);
  const SourceEntry entry = entries_of(*source)[0];
  CHECK(values_of<float>(entry.fields[1]) == std::vector<float>{0.5f, 1, 2, 3.25f});
  CHECK(values_of<std::int64_t>(entry.fields[2]) == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6});
  CHECK(entry.fields[3] == "00501");
  CHECK(values_of<float>(entry.fields[4]) == std::vector<float>{7});
}

TEST_CASE("numbers as cells") {
  CHECK(parse_int64("9223372036854775807") == INT64_MAX);
  CHECK_FALSE(parse_int64("9223372036854775808"));
  CHECK_FALSE(parse_int64("1 "));
  CHECK_FALSE(parse_int64(""));
  CHECK(parse_float32("1e-60") == 0.0f);
  CHECK_FALSE(parse_float32("1e39"));
  CHECK_FALSE(parse_float32("1.5x"));
}

TEST_CASE("what is wrong in a manifest is named with its line and offset") {
  const Manifest m;
  struct Case {
    std::string text;
    const char* reason;
    std::uint64_t line;
    std::uint64_t offset;
  };
  const std::string head = "path,label\na,1\n";  // 15 bytes, 2 lines
  const std::vector<Case> cases = {
      {head + "b\n", "1 cells where the header line has 2", 3, 15},
      {head + "\n\nb,1,2\n", "3 cells where the header line has 2", 5, 17},
      {head + "\"b,1\nc,2\n", "a quote is not closed", 3, 15},
      {head + "\"b\"x,1\n", "text behind a closing quote", 3, 15},
      {head + "\"b\nb\",1\nc\n", "1 cells", 5, 23},
      {head + std::string("b\0,1\n", 5), "a NUL byte", 3, 15},
      {head + "b\rc,1\n", "carriage return", 3, 15},
      {head + ",1\n", "the path is empty", 3, 15},
      {head + "b,-2\n", "the label is below -1", 3, 15},
      {head + std::string(5u << 20, 'x') + ",1\n", "longer than 4194304 bytes", 3, 15},
      {head + "\"" + std::string(5u << 20, '\n'), "longer than 4194304 bytes", 3, 15},
      {"path" + std::string(5000, ','), "more than 4096 cells", 1, 0},
      {"label,file\n", "no column 'path'", 1, 0},
      {"path,a,a:int64\n", "two columns are called 'a'", 1, 0},
      {"path,path\n", "two columns are called 'path'", 1, 0},
      {"path,a:int32\n", "'a:int32' has an unknown type", 1, 0},
      {"path,a:int64[0]\n", "shape", 1, 0},
      {"path,a:int64[4\n", "shape", 1, 0},
      {"path,a:int64[4x]\n", "shape", 1, 0},
      {"path,a:int64[2000x2000]\n", "more than 1048576 elements", 1, 0},
      {"path,a:bytes[4]\n", "bytes have no shape", 1, 0},
      {"path,label:int64\n", "the column 'label' takes no type", 1, 0},
      {"path,\n", "a column without a name", 1, 0},
      {"path,\xff\n", "'\\xff' is not UTF-8", 1, 0},
      {"path,a:int64\n1,2\n2,x\n", "'x' in column 'a' is no int64", 3, 17},
      {"path,a:float32[2]\n1,2\n", "'2' in column 'a' is no float32[2]", 2, 18},
      {"path,a:float32[2]\n1,2 3 4\n", "is no float32[2]", 2, 18},
      {"path,a:float32\n1,1e50\n", "is no float32", 2, 15},
      {"path,split\n1,\n", "the split is empty", 2, 11},
      {"path,split\n1,\xff\n", "not UTF-8", 2, 11},
  };
  for (const Case& one : cases) {
    CAPTURE(one.text.substr(0, 60));
    const Error error = m.error(one.text);
    CHECK(error.code() == ErrorCode::damaged);
    CHECK(error.place().file == (m.data / "m.csv").native());
    CHECK_MESSAGE(contains(error.message(), one.reason), error.message());
    CHECK(contains(error.message(), fmt::format("line {}: ", one.line)));
    CHECK(error.place().record == one.line);
    CHECK(error.place().offset == one.offset);
  }
}

TEST_CASE("manifests with nothing in them") {
  const Manifest m;
  CHECK(contains(m.error("").message(), "no header line"));
  CHECK(contains(m.error("path,label\n\n").message(), "no rows"));
  CHECK(m.error("path,label\n\n").code() == ErrorCode::refused);
}

TEST_CASE("too many splits") {
  const Manifest m;
  std::string text = "path,split\n";
  for (int i = 0; i < 256; ++i) text += fmt::format("{},s{}\n", i, i);
  CHECK(m.open(text)->info().splits.size() == 256);
  CHECK(contains(m.error(text + "x,one more\n").message(), "more than 256 different splits"));
}

TEST_CASE("duplicate keys name both lines") {
  const Manifest m;
  const Error error = m.error("path,label\na/x.jpg,1\nb.jpg,2\n../a/x.jpg,3\n");
  CHECK(error.code() == ErrorCode::refused);
  CHECK(error.place().file == (m.data / "m.csv").native());
  CHECK(error.message() == "duplicate key 'a/x.jpg': line 2 (a/x.jpg) and line 4 (../a/x.jpg)");
}

TEST_CASE("sizes are looked up when asked for") {
  const Manifest m;
  write_file(m.data / "a.jpg", "12345");
  write_file(m.data / "m.csv", "path\na.jpg\nmissing.jpg\n");
  const auto source = open_in(m.work, m.data / "m.csv", true);
  CHECK(entry_named(*source, "a.jpg").size == 5);
  CHECK(entry_named(*source, "missing.jpg").problem == "vanished since it was listed");
}

/// Highest resident memory of this process so far, in kB.
std::uint64_t peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6));
  }
  return 0;
}

/// Opens the manifest in a child process and returns by how many kB that raised its peak memory.
std::uint64_t memory_to_open(const fs::path& manifest, const TempDir& work, std::uint64_t rows) {
  int channel[2];
  REQUIRE(::pipe(channel) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::uint64_t grown = 0;
    try {
      const std::uint64_t before = peak_memory();
      const auto source = open_in(work, manifest);
      SourceEntry entry;
      for (std::uint64_t i = 0; i < source->size(); i += 1000) source->entry(i, entry);
      if (source->size() == rows && before != 0) grown = peak_memory() - before + 1;
    } catch (...) {
    }
    const bool told = ::write(channel[1], &grown, sizeof grown) == sizeof grown;
    ::_exit(told ? 0 : 1);
  }
  std::uint64_t grown = 0;
  CHECK(::read(channel[0], &grown, sizeof grown) == sizeof grown);
  ::close(channel[0]);
  ::close(channel[1]);
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  REQUIRE(grown != 0);  // else the child failed
  return grown;
}

TEST_CASE("memory does not grow with the number of rows") {
  const TempDir data, work;
  constexpr std::uint64_t kRows = 2'000'000;
  {
    std::ofstream out(data / "m.csv", std::ios::binary);
    out << "path,label,split,height\n";
    for (std::uint64_t i = 0; i < kRows; ++i) {
      out << "images/some/folder/" << i << ".jpg," << i << (i % 3 == 0 ? ",train," : ",val,") << i % 1000 << "\n";
    }
    REQUIRE(out.good());
  }
  // Rows and entries are about 300 MB; the sort of keys for duplicates takes 32 MB of memory, the labels, which are all
  // different, up to a fixed limit.
  const std::uint64_t grown = memory_to_open(data / "m.csv", work, kRows);
  MESSAGE("2,000,000 rows: " << grown / 1024 << " MiB");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  CHECK(grown < 1024 * 1024);  // sanitizers keep freed memory and shadow all of it
#else
  CHECK(grown < 200 * 1024);
#endif
}

}  // namespace
}  // namespace imgpack
