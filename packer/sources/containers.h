// The folders and files that the entries of a source lie in, and reading entries out of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "mmap/byte_buffer.h"
#include "mmap/file.h"
#include "packer/source.h"

namespace imgpack {

/// Folders stay open, so that a source keeps reading the folder it has listed. Of files, a fixed number is open at a
/// time: a source may be made of many thousand tars. Const functions are thread-safe.
class ContainerSet {
 public:
  ContainerSet();
  ~ContainerSet();
  ContainerSet(ContainerSet&&) noexcept;
  ContainerSet& operator=(ContainerSet&&) noexcept;

  /// Both return the container's number, and throw not_found, io naming the path.
  std::uint32_t add_folder(const std::filesystem::path& folder);
  std::uint32_t add_file(const std::filesystem::path& file);

  std::uint32_t size() const noexcept;
  /// REQUIRES: container < size() for these two.
  const std::filesystem::path& path(std::uint32_t container) const noexcept;
  bool is_folder(std::uint32_t container) const noexcept;

  /// What Source::read promises.
  void read(const SourceEntry& entry, ByteBuffer& out) const;

  /// Where an entry's bytes are, for messages: "FOLDER/PATH" or "FILE".
  std::string place(const SourceEntry& entry) const;

 private:
  struct Container;
  class OpenFiles;
  void read_range(const Container& container, const SourceEntry& entry, ByteBuffer& out) const;

  std::vector<Container> containers_;
  std::unique_ptr<OpenFiles> open_files_;
};

/// A descriptor of `folder` for *at() calls. Throws not_found, refused (not a folder), io.
File open_folder(const std::filesystem::path& folder);

/// A few words for why a path below a source can't be used ("permission denied", ...), or nullptr if `error` is the
/// machine's failure and not the entry's.
const char* entry_problem(int error) noexcept;

}  // namespace imgpack
