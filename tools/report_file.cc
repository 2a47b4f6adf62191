#include "tools/report_file.h"

#include <span>

#include "imgpack/error.h"
#include "mmap/file.h"
#include "mmap/paths.h"
#include "mmap/publish.h"

namespace imgpack::tools {

void check_report_file(const std::filesystem::path& path, bool overwrite) {
  if (overwrite || !path_exists(path)) return;
  throw Error(ErrorCode::already_exists, "it exists; --overwrite replaces it", in_file(path));
}

void write_report_file(const std::filesystem::path& path, std::string_view text, bool overwrite) {
  check_report_file(path, overwrite);
  const std::filesystem::path partial = with_suffix(path, ".partial");
  File file = File::open(partial, File::Mode::create);
  try {
    file.write_at(0, std::as_bytes(std::span(text.data(), text.size())));
    file.close();
    publish_file(partial, path, overwrite);
  } catch (...) {
    remove_quietly(partial);
    throw;
  }
}

}  // namespace imgpack::tools
