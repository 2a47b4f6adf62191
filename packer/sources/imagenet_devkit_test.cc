#include "packer/sources/imagenet_devkit.h"

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "imgpack/error.h"
#include "packer/sources/scan_testing.h"
#include "packer/sources/scans.h"
#include "packer/sources/test_meta_mat.h"
#include "packer/sources/test_tar.h"
#include "tests/support/damage.h"
#include "tests/support/files.h"

using namespace imgpack;
using namespace imgpack::testing;
namespace fs = std::filesystem;

namespace {

constexpr const char* kTruthFile = "ILSVRC2012_validation_ground_truth.txt";

// Ids are not in the order of wnids, as in the real devkit; two groups of classes come last.
const std::vector<MetaRow> kRows = {
    {1, "n02000003", "kit fox, Vulpes macrotis", 0},
    {2, "n02000001", "English setter", 0},
    {3, "n02000002", "tench", 0},
    {4, "n00000010", "animal", 2},
    {5, "n00000011", "thing", 1},
};

void write_devkit(const fs::path& folder, const std::string& truth, const std::vector<MetaRow>& rows = kRows) {
  fs::create_directories(folder / "data");
  write_meta_mat(folder / "data/meta.mat", rows);
  write_file(folder / "data" / kTruthFile, truth);
}

/// The same as the tar.gz that is downloaded.
void pack_devkit(const fs::path& folder, const fs::path& tar) {
  const std::string root = "ILSVRC2012_devkit_t12/";
  TarBuilder builder(TarBuilder::Format::pax_gzip);
  builder.add_directory(root).add(root + "readme.txt", std::string(100000, 'r'));
  builder.add(root + "data/" + kTruthFile, read_file(folder / "data" / kTruthFile));
  builder.add(root + "data/meta.mat", read_file(folder / "data/meta.mat"));
  write_file(tar, builder.finish());
}

bool mentions(const Error& error, const std::string& text) {
  return contains(error.what(), text);
}

std::unique_ptr<Source> scan(const fs::path& path, const TempDir& work) {
  REQUIRE(is_imagenet_tars(path));
  return open_in(work, path);
}

std::string val_name(int i) {
  const std::string digits = std::to_string(i);
  return "ILSVRC2012_val_" + std::string(8 - digits.size(), '0') + digits + ".JPEG";
}

void write_val_tar(const fs::path& path, int count) {
  TarBuilder builder(TarBuilder::Format::gnu);
  for (int i = count; i >= 1; --i) builder.add(val_name(i), "image " + std::to_string(i));
  write_file(path, builder.finish());
}

}  // namespace

TEST_CASE("a devkit is read from its folder and from its tar.gz alike") {
  const TempDir dir;
  write_devkit(dir / "kit", "3\n1\n2\n");
  pack_devkit(dir / "kit", dir / "kit.tar.gz");
  for (const fs::path& path : {dir / "kit", dir / "kit/data", dir / "kit.tar.gz"}) {
    CAPTURE(path);
    const Devkit devkit = read_devkit(path);
    REQUIRE(devkit.synsets.size() == 5);
    CHECK(devkit.synsets[0] == Synset{1, "n02000003", "kit fox, Vulpes macrotis", true});
    CHECK(devkit.synsets[3] == Synset{4, "n00000010", "animal", false});
    CHECK(devkit.validation == std::vector<std::uint32_t>{3, 1, 2});
    REQUIRE(devkit.find(2) != nullptr);
    CHECK(devkit.find(2)->words == "English setter");
    CHECK(devkit.find(6) == nullptr);
    CHECK(devkit.find(0) == nullptr);
  }
}

TEST_CASE("a devkit is found under the names that it has after download") {
  const TempDir dir;
  CHECK_FALSE(find_devkit(dir.path()));
  write_devkit(dir / "flat", "1\n");
  CHECK(find_devkit(dir / "flat/data") == dir / "flat/data");
  pack_devkit(dir / "flat", dir / "ILSVRC2012_devkit_t12.tar.gz");
  CHECK(find_devkit(dir.path()) == dir / "ILSVRC2012_devkit_t12.tar.gz");
  write_devkit(dir / "ILSVRC2012_devkit_t12", "1\n");
  CHECK(find_devkit(dir.path()) == dir / "ILSVRC2012_devkit_t12");
}

TEST_CASE("meta.mat by another writer: scipy, with and without compression, text beyond ASCII, numbers as integers") {
  const TempDir dir;
  const std::string script = R"(
import sys, numpy as np, scipy.io
names = ['ILSVRC2012_ID', 'WNID', 'words', 'gloss', 'num_children', 'children', 'wordnet_height', 'num_train_images']
rows = [(2.0, 'n00000002', 'cr\u00eape, \U0001f95e', 'g', 0.0, np.array([]), 0.0, 1300.0),
        (np.int32(1), 'n00000001', 'one', 'g', np.uint8(0), np.array([]), 0.0, 732.0),
        (np.uint16(1001), 'n00000003', '', 'g', np.int64(2), np.array([[1.0, 2.0]]), 3.0, 0.0)]
array = np.zeros((len(rows), 1), dtype=[(n, object) for n in names])
for i, row in enumerate(rows):
    array[i, 0] = row
for compress in (False, True):
    scipy.io.savemat(sys.argv[1] + '/%d.mat' % compress, {'other': np.eye(3), 'synsets': array}, do_compression=compress)
)";
  write_file(dir / "make.py", script);
  const std::string command = "/usr/bin/python3 '" + (dir / "make.py").string() + "' '" + dir.path().string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  for (const char* name : {"0.mat", "1.mat"}) {
    CAPTURE(name);
    const File file = File::open(dir / name, File::Mode::read);
    const std::vector<Synset> synsets = read_synsets(file, name);
    REQUIRE(synsets.size() == 3);
    CHECK(synsets[0] == Synset{1, "n00000001", "one", true});
    CHECK(synsets[1] == Synset{2, "n00000002", "cr\xc3\xaape, \xf0\x9f\xa5\x9e", true});
    CHECK(synsets[2] == Synset{1001, "n00000003", "", false});
  }
}

TEST_CASE("MATLAB's characters beyond ASCII become UTF-8") {
  const TempDir dir;
  write_meta_mat(dir / "meta.mat", {{1, "n00000001", "cr\xeape", 0}});
  const File file = File::open(dir / "meta.mat", File::Mode::read);
  CHECK(read_synsets(file, "meta.mat")[0].words == "cr\xc3\xaape");
}

TEST_CASE("a meta.mat that makes no sense is damaged, and the reason is named") {
  const TempDir dir;
  const fs::path path = dir / "meta.mat";
  const auto error = [&] {
    const File file = File::open(path, File::Mode::read);
    const Error found = error_of([&] { read_synsets(file, "some/meta.mat"); });
    CHECK(found.place().file == "some/meta.mat");
    return found;
  };
  const auto with = [&](const MetaRow& row) {
    write_meta_mat(path, {{1, "n00000001", "a", 0}, row});
    return error();
  };
  CHECK(mentions(with({1, "n00000002", "b", 0}), "ILSVRC2012_ID 1 stands twice"));
  CHECK(mentions(with({2, "n00000001", "b", 0}), "n00000001 stands twice"));
  CHECK(mentions(with({0, "n00000002", "b", 0}), "synsets(2).ILSVRC2012_ID"));
  CHECK(mentions(with({-1, "n00000002", "b", 0}), "synsets(2).ILSVRC2012_ID"));
  CHECK(mentions(with({1.5, "n00000002", "b", 0}), "synsets(2).ILSVRC2012_ID"));
  CHECK(mentions(with({1e300, "n00000002", "b", 0}), "synsets(2).ILSVRC2012_ID"));
  CHECK(mentions(with({std::strtod("nan", nullptr), "n00000002", "b", 0}), "synsets(2).ILSVRC2012_ID"));
  CHECK(mentions(with({2, "n00000002", "b", -1}), "synsets(2).num_children"));
  CHECK(mentions(with({2, "../../etc", "b", 0}), "synsets(2).WNID is '../../etc'"));
  write_meta_mat(path, kRows, "nothing");
  CHECK(mentions(error(), "'synsets'"));
  write_meta_mat(path, kRows, "synsets", "Wnid");
  CHECK(mentions(error(), "'WNID'"));
  write_file(path, "too short");
  CHECK(error().code() == ErrorCode::damaged);
  write_file(path, std::string(100000, 'x'));
  CHECK(error().code() == ErrorCode::damaged);
  std::string hdf5(1000, '\0');
  hdf5.replace(124, 4, std::string("\0\2IM", 4));
  write_file(path, hdf5);
  CHECK(error().code() == ErrorCode::unsupported);
}

TEST_CASE("a meta.mat that is cut off or has a wrong byte is an error or reads as a table; nothing crashes") {
  const TempDir dir;
  for (const bool compressed : {true, false}) {
    CAPTURE(compressed);
    write_meta_mat(dir / "meta.mat", kRows, "synsets", "WNID", compressed);
    const auto bytes = read_file(dir / "meta.mat");
    const auto try_read = [&](std::span<const std::byte> changed) {
      write_file(dir / "bad.mat", changed);
      const File file = File::open(dir / "bad.mat", File::Mode::read);
      try {
        return read_synsets(file, "bad.mat").size();
      } catch (const Error& error) {
        CHECK((error.code() == ErrorCode::damaged || error.code() == ErrorCode::unsupported));
        return std::size_t{0};
      }
    };
    for_each_cut(bytes, 7, [&](std::span<const std::byte> cut) { CHECK(try_read(cut) == 0); });
    for_each_flip(bytes, 1, [&](std::span<const std::byte> flipped, std::size_t at) {
      const std::size_t rows = try_read(flipped);
      const bool in_data = at >= 136;
      if (compressed && in_data) CHECK(rows == 0);  // there is a checksum
    });
  }
}

TEST_CASE("variables that matio is not trusted with are refused") {
  const TempDir dir;
  const std::string script = R"(
import sys, numpy as np, scipy.io
for name, value in (('cell', np.array([['a', 'b']], dtype=object)), ('complex', np.array([[1 + 2j]])),
                    ('nested', {'a': {'b': 1}}), ('sparse', __import__('scipy.sparse').sparse.eye(3, format='csc'))):
    scipy.io.savemat(sys.argv[1] + '/' + name + '.mat', {'synsets': value}, do_compression=True)
)";
  write_file(dir / "make.py", script);
  const std::string command = "/usr/bin/python3 '" + (dir / "make.py").string() + "' '" + dir.path().string() + "'";
  REQUIRE(std::system(command.c_str()) == 0);
  for (const char* name : {"cell.mat", "complex.mat", "nested.mat", "sparse.mat"}) {
    CAPTURE(name);
    const File file = File::open(dir / name, File::Mode::read);
    CHECK(error_of([&] { read_synsets(file, name); }).code() == ErrorCode::unsupported);
  }
}

TEST_CASE("ground truth: lines of ids, whatever their ends; anything else names its line") {
  const std::vector<std::uint32_t> ids = {490, 1, 1000};
  CHECK(parse_ground_truth("490\n1\n1000\n", "t") == ids);
  CHECK(parse_ground_truth("490\r\n1\r\n1000", "t") == ids);
  CHECK(parse_ground_truth("490\n1\n1000\n\n\n", "t") == ids);
  CHECK(parse_ground_truth("", "t").empty());
  for (const char* bad :
       {"490\nx\n", "490\n\n3\n", "490\n-3\n", "490\n0\n", "490\n3 4\n", "490\n99999999999\n", "490\n1.5\n"}) {
    CAPTURE(bad);
    const Error error = error_of([&] { parse_ground_truth(bad, "truth.txt"); });
    CHECK(error.code() == ErrorCode::damaged);
    CHECK(mentions(error, "truth.txt"));
    CHECK(mentions(error, "line 2"));
  }
}

TEST_CASE("a devkit without one of its files, with unknown ids, or cut off, is refused") {
  const TempDir dir;
  write_devkit(dir / "kit", "1\n");
  fs::remove(dir / "kit/data/meta.mat");
  CHECK(mentions(error_of([&] { read_devkit(dir / "kit"); }), "meta.mat"));
  write_devkit(dir / "kit", "1\n2\n6\n");
  CHECK(mentions(error_of([&] { read_devkit(dir / "kit"); }), "line 3"));
  write_devkit(dir / "kit", "1\n4\n");  // a group of classes
  CHECK(mentions(error_of([&] { read_devkit(dir / "kit"); }), "line 2"));

  write_devkit(dir / "kit", "1\n");
  pack_devkit(dir / "kit", dir / "kit.tar.gz");
  const auto whole = read_file(dir / "kit.tar.gz");
  for_each_cut(whole, 3, [&](std::span<const std::byte> cut) {
    if (cut.size() + 100 > whole.size()) return;  // the end mark and gzip's own trailer
    write_file(dir / "cut.tar.gz", cut);
    CHECK_THROWS_AS(read_devkit(dir / "cut.tar.gz"), Error);
  });
  write_file(dir / "none.tar.gz", TarBuilder(TarBuilder::Format::pax_gzip).add("a/meta.mat", "x").finish());
  const Error missing = error_of([&] { read_devkit(dir / "none.tar.gz"); });
  CHECK(missing.code() == ErrorCode::not_found);
  CHECK(mentions(missing, kTruthFile));
}

TEST_CASE("a member of the devkit's tar that is too large is not unpacked") {
  const TempDir dir;
  TarBuilder builder(TarBuilder::Format::pax_gzip);
  builder.add(std::string("data/") + kTruthFile, std::string((16u << 20) + 1, '1'));
  write_file(dir / "bomb.tar.gz", builder.finish());
  CHECK(mentions(error_of([&] { read_devkit(dir / "bomb.tar.gz"); }), "larger"));
}

TEST_CASE(
    "validation images get labels from the devkit: line i is the i-th name, ids go through wnids to sorted classes") {
  const TempDir dir;
  write_val_tar(dir / "ILSVRC2012_img_val.tar", 4);
  write_devkit(dir / "kit", "3\n1\n2\n3\n");
  pack_devkit(dir / "kit", dir / "ILSVRC2012_devkit_t12.tar.gz");
  for (const fs::path& path : {dir.path(), dir / "ILSVRC2012_img_val.tar"}) {
    const auto source = scan(path, dir);
    REQUIRE(source->info().classes.size() == 3);
    CHECK(source->info().classes[0] == ClassInfo{"n02000001", "English setter"});
    CHECK(source->info().classes[1] == ClassInfo{"n02000002", "tench"});
    CHECK(source->info().classes[2] == ClassInfo{"n02000003", "kit fox, Vulpes macrotis"});
    REQUIRE(source->size() == 4);
    const std::vector<std::int64_t> labels = {1, 2, 0, 1};
    SourceEntry entry;
    ByteBuffer bytes;
    for (int i = 0; i < 4; ++i) {
      source->entry(static_cast<std::uint64_t>(i), entry);
      source->read(entry, bytes);
      CHECK(entry.key == "val/" + val_name(i + 1));
      CHECK(entry.label == labels[static_cast<std::size_t>(i)]);
      CHECK(as_text(bytes.bytes()) == "image " + std::to_string(i + 1));
    }
    CHECK(source->warnings().empty());
  }
}

TEST_CASE("with the training tar its classes count, and get the devkit's words") {
  const TempDir dir;
  write_val_tar(dir / "ILSVRC2012_img_val.tar", 2);
  write_devkit(dir / "ILSVRC2012_devkit_t12", "3\n1\n");
  const auto write_train = [&](const std::vector<std::string>& wnids) {
    TarBuilder outer;
    for (const std::string& wnid : wnids) outer.add(wnid + ".tar", TarBuilder().add(wnid + "_1.JPEG", wnid).finish());
    write_file(dir / "ILSVRC2012_img_train.tar", outer.finish());
  };
  write_train({"n02000003", "n01999999", "n02000002"});
  const auto source = scan(dir.path(), dir);
  REQUIRE(source->info().classes.size() == 3);
  CHECK(source->info().classes[0] == ClassInfo{"n01999999", ""});
  CHECK(source->info().classes[1] == ClassInfo{"n02000002", "tench"});
  REQUIRE(source->size() == 5);
  SourceEntry entry;
  source->entry(3, entry);
  CHECK(entry.key == "val/" + val_name(1));
  CHECK(entry.label == 1);
  source->entry(4, entry);
  CHECK(entry.label == 2);

  write_train({"n02000003"});
  const Error error = error_of([&] { scan(dir.path(), dir); });
  CHECK(error.code() == ErrorCode::refused);
  CHECK(mentions(error, "n02000002"));
}

TEST_CASE("as many labels as validation images, or none is given") {
  const TempDir dir;
  write_val_tar(dir / "ILSVRC2012_img_val.tar", 3);
  for (const char* truth : {"1\n2\n", "1\n2\n3\n1\n", ""}) {
    write_devkit(dir / "ILSVRC2012_devkit_t12", truth);
    const Error error = error_of([&] { scan(dir.path(), dir); });
    CHECK(error.code() == ErrorCode::refused);
    CHECK(mentions(error, "3 validation images"));
  }
}
