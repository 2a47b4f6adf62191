#include <exception>
#include <span>

#include <sys/mman.h>

#include "imgpack/error.h"
#include "packer/sources/imagenet_names.h"
#include "packer/sources/matlab_synsets.h"
#include "packer/sources/test_meta_mat.h"
#include "tests/support/files.h"
#include "tests/support/fuzz.h"

using namespace imgpack;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static File file(::memfd_create("fuzz", MFD_CLOEXEC), "meta.mat");
  file.truncate(0);
  file.write_at(0, std::as_bytes(std::span(data, size)));
  try {
    for (const Synset& synset : read_synsets(file, "meta.mat")) {
      if (synset.id == 0 || !is_wnid(synset.wnid)) std::terminate();
    }
  } catch (const Error&) {
  }
  return 0;
}

std::vector<std::vector<std::byte>> imgpack::testing::fuzz_seeds() {
  const TempDir dir;
  std::vector<std::vector<std::byte>> seeds;
  for (const bool compressed : {false, true}) {
    const std::vector<MetaRow> rows = {{1, "n00000001", "tench, Tinca tinca", 0}, {2, "n00000002", "thing", 3}};
    write_meta_mat(dir / "meta.mat", rows, "synsets", "WNID", compressed);
    seeds.push_back(read_file(dir / "meta.mat"));
  }
  return seeds;
}
