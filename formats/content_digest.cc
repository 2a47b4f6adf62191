#include "formats/content_digest.h"

#include <cstddef>

#include "formats/checksum.h"
#include "formats/columns.h"
#include "mmap/little_endian.h"

namespace imgpack {

void ContentDigest::add(std::string_view key, std::int64_t label, std::uint64_t checksum) noexcept {
  const KeyHash hash = hash_key(key);
  std::byte link[40];
  store_le(link, chain_);
  store_le(link + 8, hash.high);
  store_le(link + 16, hash.low);
  store_le(link + 24, label);
  store_le(link + 32, checksum);
  chain_ = checksum_of(link);
}

std::uint64_t ContentDigest::value(const std::vector<Split>& splits) const {
  std::uint64_t chain = chain_;
  for (const Split& split : splits) {
    std::vector<std::byte> link;
    append_le(link, chain);
    append_le(link, split.begin);
    append_le(link, split.end);
    for (const char c : split.name) link.push_back(static_cast<std::byte>(c));
    chain = checksum_of(link);
  }
  return chain;
}

}  // namespace imgpack
