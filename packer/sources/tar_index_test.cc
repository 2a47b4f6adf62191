#include "packer/sources/tar_index.h"

#include <clocale>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "imgpack/error.h"
#include "packer/sources/test_tar.h"
#include "tests/support/damage.h"
#include "tests/support/files.h"

using namespace imgpack;
using namespace imgpack::testing;
using Kind = TarMember::Kind;
using Bytes = std::vector<std::byte>;

namespace {

struct Listed {
  TarMember member;
  std::string content;
};

std::vector<Listed> list(const File& file, std::uint64_t offset, std::uint64_t size) {
  std::vector<Listed> out;
  TarReader reader(file, offset, size);
  TarMember member;
  while (reader.next(member)) {
    Bytes bytes(member.size);
    file.read_at(member.offset, bytes);
    out.push_back({member, std::string(as_text(bytes))});
  }
  return out;
}

std::vector<Listed> list(const std::filesystem::path& path) {
  const File file = File::open(path, File::Mode::read);
  return list(file, 0, file.size());
}

std::vector<Listed> list(const Bytes& tar) {
  const TempDir dir;
  write_file(dir / "x.tar", tar);
  return list(dir / "x.tar");
}

Error error_of(const Bytes& tar) {
  try {
    list(tar);
  } catch (const Error& error) {
    return error;
  }
  FAIL("no error");
  return Error(ErrorCode::io, "");
}

std::string pattern(std::size_t size, unsigned seed) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>((i * 131 + seed * 7 + (i >> 8)) & 0xff);
  return out;
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t total = 0;
  std::uint64_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("members of every tar format are found with their bytes, in order") {
  const std::string long_name =
      std::string(40, 'd') + "/" + std::string(90, 'e') + "/" + std::string(60, 'f') + ".JPEG";
  const std::string longer_name = std::string(300, 'g') + "/" + std::string(250, 'h') + ".jpg";
  for (const auto format : {TarBuilder::Format::ustar, TarBuilder::Format::pax, TarBuilder::Format::gnu}) {
    CAPTURE(static_cast<int>(format));
    std::vector<std::pair<std::string, std::string>> files = {
        {"a.jpg", pattern(1, 1)},
        {"dir/b.jpg", pattern(511, 2)},
        {"dir/c.jpg", pattern(512, 3)},
        {"dir/d.jpg", pattern(513, 4)},
        {"empty", ""},
        {long_name, pattern(70000, 5)},
        {"z.jpg", pattern(5u << 20, 6)},
        {"BZh9.jpg", pattern(16384, 7)},
        {"end.cls", "7"},
    };
    if (format != TarBuilder::Format::ustar) files.push_back({longer_name, pattern(1000, 8)});
    TarBuilder builder(format);
    for (const auto& [name, content] : files) builder.add(name, content);
    const std::vector<Listed> listed = list(builder.finish());
    REQUIRE(listed.size() == files.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
      CHECK(listed[i].member.name == files[i].first);
      CHECK(listed[i].member.kind == Kind::regular);
      CHECK(listed[i].member.problem().empty());
      CHECK((listed[i].content == files[i].second));
    }
  }
}

TEST_CASE("a first member whose name looks like a compressed file is no obstacle") {
  const auto listed = list(TarBuilder(TarBuilder::Format::ustar).add("BZh91.jpg", "x").finish());
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].member.name == "BZh91.jpg");
}

TEST_CASE("tars by GNU tar, by its own tool") {
  const TempDir dir;
  write_file(dir / "in/sub/a.jpg", pattern(3000, 1));
  write_file(dir / ("in/" + std::string(96, 'n') + ".jpg"), pattern(100, 2));
  for (const std::string format : {"gnu", "pax", "ustar", "v7"}) {
    CAPTURE(format);
    const std::string names = format == "v7" ? "./sub/a.jpg" : ".";
    const std::string command = "tar -C '" + (dir / "in").string() + "' --sort=name --format=" + format + " -cf '" +
                                (dir / "x.tar").string() + "' " + names;
    REQUIRE(std::system(command.c_str()) == 0);
    std::map<std::string, std::string> contents;
    for (const Listed& one : list(dir / "x.tar")) {
      if (one.member.kind == Kind::regular) contents[one.member.name] = one.content;
    }
    CHECK((contents["sub/a.jpg"] == pattern(3000, 1)));
    if (format != "v7") CHECK((contents[std::string(96, 'n') + ".jpg"] == pattern(100, 2)));
  }
}

TEST_CASE("names come out byte for byte, whatever the program's locale") {
  // e + combining acute accent, as macOS writes it, would become one letter if it were normalised.
  const std::vector<std::string> names = {"e\xcc\x81.jpg", "\xc3\xbc.jpg", "not-utf8-\xff.jpg"};
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const auto format : {TarBuilder::Format::pax, TarBuilder::Format::gnu}) {
    REQUIRE(std::setlocale(LC_ALL, "C") != nullptr);  // the writer would change names too
    TarBuilder builder(format);
    for (const std::string& name : names) builder.add(name, name);
    const Bytes tar = builder.finish();
    for (const char* locale : {"C", "C.UTF-8"}) {
      REQUIRE(std::setlocale(LC_ALL, locale) != nullptr);
      const auto listed = list(tar);
      REQUIRE(listed.size() == names.size());
      for (std::size_t i = 0; i < names.size(); ++i) {
        CHECK(listed[i].content == names[i]);
        CHECK(listed[i].member.name == names[i]);
      }
    }
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("leading ./ is dropped; folders and links are told apart from files") {
  const auto listed = list(TarBuilder()
                               .add_directory("./dir/")
                               .add("./dir/a.jpg", "AAA")
                               .add_symlink("dir/s.jpg", "a.jpg")
                               .add_hardlink("dir/h.jpg", "dir/a.jpg")
                               .add_sparse("dir/holes.jpg", 100000, 50000, "only this")
                               .add("dir/b.jpg", "BBB")
                               .finish());
  REQUIRE(listed.size() == 6);
  CHECK(listed[0].member.kind == Kind::directory);
  CHECK(listed[1].member.name == "dir/a.jpg");
  CHECK(listed[1].content == "AAA");
  CHECK(listed[2].member.kind == Kind::symbolic_link);
  CHECK(listed[2].member.problem().find("symbolic link (to 'a.jpg')") != std::string::npos);
  CHECK(listed[3].member.kind == Kind::hard_link);
  CHECK(listed[3].member.problem().find("hard link (to 'dir/a.jpg')") != std::string::npos);
  CHECK(listed[4].member.kind == Kind::sparse);
  CHECK(listed[4].member.problem().find("sparse") != std::string::npos);
  CHECK(listed[5].content == "BBB");
}

TEST_CASE("concatenated tars are one list") {
  Bytes tar = TarBuilder().add("a", "1").finish();
  const Bytes second = TarBuilder(TarBuilder::Format::gnu).add("b", "2").finish();
  tar.insert(tar.end(), second.begin(), second.end());
  const auto listed = list(tar);
  REQUIRE(listed.size() == 2);
  CHECK(listed[1].member.name == "b");
  CHECK(listed[1].content == "2");
}

TEST_CASE("a tar inside a tar is listed in place") {
  const std::string inner_content = pattern(3000, 3);
  const Bytes inner = TarBuilder(TarBuilder::Format::gnu).add("x.JPEG", inner_content).add("y.JPEG", "why").finish();
  const TempDir dir;
  write_file(dir / "outer.tar", TarBuilder().add("first.tar", "no tar").add("n1.tar", inner).add("last", "l").finish());
  const File file = File::open(dir / "outer.tar", File::Mode::read);
  const auto outer = list(file, 0, file.size());
  REQUIRE(outer.size() == 3);
  const auto listed = list(file, outer[1].member.offset, outer[1].member.size);
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].member.name == "x.JPEG");
  CHECK((listed[0].content == inner_content));
  CHECK(listed[1].content == "why");
  CHECK_THROWS_AS(list(file, outer[0].member.offset, outer[0].member.size), Error);
  CHECK_THROWS_AS(list(file, 512, file.size()), Error);
}

TEST_CASE("compressed tars are named as such") {
  const Error gzip = error_of(TarBuilder(TarBuilder::Format::pax_gzip).add("a.jpg", "x").finish());
  CHECK(gzip.code() == ErrorCode::unsupported);
  CHECK(gzip.message().find("gzip") != std::string::npos);
  CHECK(gzip.message().find("decompress it first") != std::string::npos);
  const std::string_view zstd("\x28\xb5\x2f\xfd\x04\x00\x01\x00", 8);
  const auto zstd_bytes = as_bytes(zstd);
  CHECK(error_of(Bytes(zstd_bytes.begin(), zstd_bytes.end())).message().find("zstd") != std::string::npos);
}

TEST_CASE("what is no tar is damaged, and so is nothing at all") {
  CHECK(error_of({}).code() == ErrorCode::damaged);
  CHECK(error_of(Bytes(10, std::byte{'x'})).code() == ErrorCode::damaged);
  CHECK(error_of(Bytes(10000, std::byte{'x'})).code() == ErrorCode::damaged);
  CHECK(list(Bytes(1024)).empty());
}

TEST_CASE("a tar cut anywhere before its end mark is damaged") {
  const Bytes tar = TarBuilder().add("a.jpg", pattern(700, 1)).add(std::string(120, 'n'), pattern(100, 2)).finish();
  const std::size_t mark = tar.size() - 1024;
  for_each_cut(tar, 1, [&](std::span<const std::byte> cut) {
    if (cut.size() >= mark + 512 && cut.size() % 512 == 0) {
      CHECK(list(Bytes(cut.begin(), cut.end())).size() == 2);
      return;
    }
    const Error error = error_of(Bytes(cut.begin(), cut.end()));
    CHECK(error.code() == ErrorCode::damaged);
    CHECK(error.place().file.ends_with("x.tar"));
    REQUIRE(error.place().offset);
    CHECK(*error.place().offset <= cut.size());
  });
}

TEST_CASE("a changed header byte is damaged; nothing crashes") {
  const Bytes tar = TarBuilder(TarBuilder::Format::ustar).add("a.jpg", pattern(700, 1)).add("b.jpg", "xyz").finish();
  for_each_flip(tar, 1, [&](std::span<const std::byte> flipped, std::size_t at) {
    const bool in_header = at < 500 || (at >= 1536 && at < 1536 + 500);
    // The checksum's own last byte (a space) is not part of the number.
    const bool in_checksum = at % 512 >= 148 && at % 512 < 156;
    try {
      const auto listed = list(Bytes(flipped.begin(), flipped.end()));
      CHECK_MESSAGE((!in_header || in_checksum), "offset " << at);
      CHECK(listed.size() <= 2);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::damaged);
    }
  });
}

TEST_CASE("a header that claims another size than is stored is damaged") {
  // What a pax header may say about sparse files, without any of their holes.
  const TempDir dir;
  const std::string script =
      "import tarfile, io\n"
      "t = tarfile.open('" +
      (dir / "x.tar").string() +
      "', 'w', format=tarfile.PAX_FORMAT)\n"
      "for name, extra in (('a', {'GNU.sparse.realsize': '5000'}), ('b', {})):\n"
      "  i = tarfile.TarInfo(name); i.size = 3; i.pax_headers = extra; t.addfile(i, io.BytesIO(b'abc'))\n"
      "t.close()\n";
  write_file(dir / "make.py", script);
  REQUIRE(std::system(("/usr/bin/python3 '" + (dir / "make.py").string() + "'").c_str()) == 0);
  try {
    list(dir / "x.tar");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::damaged);
  }
}

TEST_CASE("a tar that shrinks while it is listed is an error, not a signal") {
  const TempDir dir;
  TarBuilder builder;
  for (int i = 0; i < 200; ++i) builder.add("m" + std::to_string(i), pattern(3000, static_cast<unsigned>(i)));
  write_file(dir / "x.tar", builder.finish());
  const File file = File::open(dir / "x.tar", File::Mode::read);
  TarReader reader(file);
  TarMember member;
  REQUIRE(reader.next(member));
  std::filesystem::resize_file(dir / "x.tar", 100000);
  CHECK_THROWS_AS(while (reader.next(member)){}, Error);
}

TEST_CASE("one file is listed from many threads") {
  const TempDir dir;
  TarBuilder builder;
  for (int i = 0; i < 300; ++i) builder.add("m" + std::to_string(i), pattern(700, static_cast<unsigned>(i)));
  write_file(dir / "x.tar", builder.finish());
  const File file = File::open(dir / "x.tar", File::Mode::read);
  std::vector<std::size_t> counts(4);
  std::vector<std::thread> threads;
  for (std::size_t& count : counts) threads.emplace_back([&] { count = list(file, 0, file.size()).size(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::size_t count : counts) CHECK(count == 300);
}

TEST_CASE("memory stays flat over 200,000 members and 64 GiB of content") {
  const TempDir dir;
  constexpr std::uint64_t kMembers = 200'000;
  constexpr std::uint64_t kBig = 1ull << 30;
  const Bytes header = [] {
    Bytes tar = TarBuilder(TarBuilder::Format::ustar).add("m.jpg", "").finish();
    tar.resize(512);
    return tar;
  }();
  const Bytes big_header = [] {
    // The header is all that is wanted: libarchive pads the content itself, so take a size in the size field's octal
    // digits.
    Bytes tar = TarBuilder(TarBuilder::Format::ustar).add("big.jpg", "").finish();
    tar.resize(512);
    const std::string digits = "10000000000";  // 1 GiB
    unsigned change = 0;
    for (std::size_t i = 0; i < digits.size(); ++i) {
      change += static_cast<unsigned>(digits[i]) - static_cast<unsigned>(tar[124 + i]);
      tar[124 + i] = static_cast<std::byte>(digits[i]);
    }
    const unsigned sum =
        static_cast<unsigned>(std::stoul(std::string(as_text(tar).substr(148, 6)), nullptr, 8)) + change;
    std::snprintf(reinterpret_cast<char*>(tar.data()) + 148, 7, "%06o", sum);
    return tar;
  }();
  {
    File file = File::open(dir / "x.tar", File::Mode::create);
    std::uint64_t at = 0;
    for (int i = 0; i < 64; ++i, at += 512 + kBig) file.write_at(at, big_header);  // holes: no disk is used
    Bytes many;
    for (int i = 0; i < 2000; ++i) many.insert(many.end(), header.begin(), header.end());
    for (std::uint64_t i = 0; i < kMembers; i += 2000, at += many.size()) file.write_at(at, many);
    file.truncate(at + 1024);
  }
  const File file = File::open(dir / "x.tar", File::Mode::read);
  TarReader reader(file);
  TarMember member;
  std::uint64_t members = 0;
  std::uint64_t bytes = 0;
  std::uint64_t settled = 0;
  std::uint64_t most = 0;
  while (reader.next(member)) {
    bytes += member.size;
    if (++members == 1000) settled = resident_bytes();
    if (members % 1000 == 0) most = std::max(most, resident_bytes());
  }
  CHECK(members == kMembers + 64);
  CHECK(bytes == 64 * kBig);
#if defined(__SANITIZE_ADDRESS__)
  const std::uint64_t allowance = 400u << 20;  // it keeps what was freed
#else
  const std::uint64_t allowance = 4u << 20;
#endif
  CHECK(most < settled + allowance);
}
