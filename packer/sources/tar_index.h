// Lists the members of an uncompressed tar and says where in the file their bytes lie, so that payloads can later be
// read by position, in any order and from many threads. Nothing is unpacked and, but for headers, nothing is read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "mmap/file.h"

namespace imgpack {

struct TarMember {
  enum class Kind : std::uint8_t {
    regular,
    directory,
    symbolic_link,
    hard_link,
    sparse,  ///< stored with its holes left out: not one range of the tar
    other,   ///< a device, a pipe, ...
  };

  std::string name;  ///< the bytes that stand in the tar, without any leading "./"; not necessarily UTF-8; only a
                     ///< folder's may be empty
  Kind kind = Kind::regular;
  std::uint64_t offset = 0;  ///< of the first byte of content, in the file (not in the range that is listed)
  std::uint64_t size = 0;    ///< bytes; 0 unless the member is regular
  std::string link_target;   ///< of links

  /// Why the member's bytes can't be read from the tar, as a sentence for SourceEntry::problem; empty for regular ones.
  std::string problem() const;
};

/// Walks through a tar once, in its order. Understands ustar, pax, GNU and old tars, and tars that were simply
/// concatenated.
///
/// Reads by position, never through a mapping, so a tar that is cut off meanwhile is an error and not a signal. Memory
/// is constant (about 100 KB, at most some MB for absurdly long names). Not thread-safe; several readers of one File
/// are fine.
class TarReader {
 public:
  /// The whole file. `file` must outlive the reader. Throws unsupported if it is compressed, damaged if it is no tar,
  /// io.
  explicit TarReader(const File& file);
  /// A tar that is the range [offset, offset + size) of a file. Throws damaged too if the file ends before.
  TarReader(const File& file, std::uint64_t offset, std::uint64_t size);
  TarReader(TarReader&&) noexcept;
  TarReader& operator=(TarReader&&) noexcept;
  ~TarReader();

  /// The next member into `member`, reusing its memory; false at the end. The content of a regular member lies inside
  /// the range.
  ///
  /// Throws damaged, with the offset of the header, if a header's checksum is wrong or the tar was cut off: inside a
  /// member, or between two (a whole tar ends with blocks of zeros). Throws io if the file can't be read. After an
  /// error the reader can only be destroyed.
  bool next(TarMember& member);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace imgpack
