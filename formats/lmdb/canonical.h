// The one form that the bytes of a finished file have, however its build went.
//
// liblmdb writes pages as they lie in memory: the gap between node table and nodes, freed pages and the older meta page
// hold what was there before, which depends on the past of the process. Where those bytes are zero, equal datasets are
// equal files, and a flipped bit in them is found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/lmdb/page_reader.h"

namespace imgpack::lmdb {

/// Where a node lies in its page: [begin, end), of which the bytes from `padding` on carry nothing.
struct NodeRange {
  std::uint32_t begin = 0;
  std::uint32_t padding = 0;
  std::uint32_t end = 0;
  auto operator<=>(const NodeRange&) const = default;
};

/// The first byte of `page` that is not as in a finished file: nodes that do not fill the page's end exactly, or unused
/// bytes that are not zero. Nothing if all is well. `ranges` is scratch memory. Throws damaged like PageReader.
std::optional<std::size_t> non_canonical_byte(const PageReader& pages, const Page& page,
                                              std::vector<NodeRange>& ranges);

/// What meta page `page_number` of a finished file holds, of which `live` is the newest snapshot: both pages hold it,
/// the other one under the transaction number before.
Meta canonical_meta(const Meta& live, std::uint64_t page_number);

/// Brings a closed file into its final form and cuts it behind its last page. May be repeated. Throws damaged or io.
void canonicalise(const std::filesystem::path& path);

/// A digest as written in imgpack.meta: 16 hexadecimal digits.
std::string digest_text(std::uint64_t digest);

}  // namespace imgpack::lmdb
