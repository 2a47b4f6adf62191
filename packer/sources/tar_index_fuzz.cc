#include <exception>
#include <span>
#include <stdexcept>

#include <sys/mman.h>

#include "imgpack/error.h"
#include "packer/sources/tar_index.h"
#include "packer/sources/test_tar.h"
#include "tests/support/fuzz.h"

using namespace imgpack;
using imgpack::testing::TarBuilder;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static File file(::memfd_create("fuzz", MFD_CLOEXEC), "fuzz.tar");
  file.truncate(0);
  file.write_at(0, std::as_bytes(std::span(data, size)));
  try {
    TarReader reader(file);
    TarMember member;
    std::uint64_t last = 0;
    std::size_t members = 0;
    while (reader.next(member)) {
      const bool inside = member.offset <= size && member.size <= size - member.offset;
      // Every member takes at least its header, so that the walk ends.
      if (!inside || member.offset < last + 512 || ++members > size / 512) std::terminate();
      last = member.offset;
    }
  } catch (const Error&) {
  }
  return 0;
}

std::vector<std::vector<std::byte>> imgpack::testing::fuzz_seeds() {
  const std::string long_name = std::string(200, 'n') + "/" + std::string(100, 'm') + ".jpg";
  const auto filled = [&](TarBuilder builder, bool long_names) {
    builder.add("a.jpg", std::string_view("content of a")).add_directory("d/").add("d/b.jpg", std::string(600, 'b'));
    builder.add_symlink("s.jpg", "a.jpg").add_hardlink("h.jpg", "a.jpg");
    if (long_names) builder.add(long_name, std::string_view("x")).add("\xc3\xbc.jpg", std::string_view("y"));
    return builder.finish();
  };
  return {
      filled(TarBuilder(TarBuilder::Format::ustar), false),
      filled(TarBuilder(TarBuilder::Format::gnu), true),
      filled(TarBuilder(TarBuilder::Format::pax), true),
      TarBuilder().add_sparse("holes.jpg", 10000, 5000, "stored").finish(),
      TarBuilder(TarBuilder::Format::pax_gzip).add("a.jpg", std::string_view("x")).finish(),
      std::vector<std::byte>(2048),
  };
}
