#include <utility>

#include <fmt/format.h>

#include "formats/key_slices.h"
#include "formats/shards.h"
#include "imgpack/build.h"
#include "imgpack/error.h"
#include "mmap/paths.h"

namespace imgpack {

namespace fs = std::filesystem;

namespace {

void list_shards(const StoreReader& store, std::vector<ManifestShard>& shards) {
  if (store.parts().empty()) {
    shards.push_back({.path = store.path(), .records = store.size(), .content_digest = store.info().content_digest});
    return;
  }
  for (const auto& part : store.parts()) list_shards(*part, shards);
}

/// A manifest in the place of a file that it lists would destroy that file.
void refuse_input_as_output(const fs::path& output, const std::vector<ManifestShard>& shards) {
  std::error_code ignored;  // what does not exist is equivalent to nothing
  for (const ManifestShard& shard : shards) {
    if (!fs::equivalent(output, shard.path, ignored)) continue;
    throw Error(ErrorCode::invalid_argument, "the output is one of the inputs: the manifest would replace it",
                in_file(output));
  }
}

void refuse_duplicate_keys(const StoreReader& store) {
  visit_key_slices(
      store.size(), [&](std::uint64_t record) { return store.key(record); },
      [&](const std::vector<HashedRecord>& entries) {
        for (std::size_t i = 1; i < entries.size(); ++i) {
          if (entries[i].hash != entries[i - 1].hash) continue;
          throw Error(ErrorCode::refused,
                      fmt::format("the key '{}' is in {} and again in {}", store.key(entries[i].record),
                                  store.place(entries[i - 1].record).file->string(),
                                  store.place(entries[i].record).file->string()));
        }
        return true;
      });
}

}  // namespace

void merge(const fs::path& output, const std::vector<fs::path>& inputs, bool overwrite) {
  std::vector<std::unique_ptr<StoreReader>> stores;
  std::vector<ManifestShard> shards;
  for (const fs::path& input : inputs) {
    stores.push_back(open_store(input));
    list_shards(*stores.back(), shards);
  }
  refuse_input_as_output(output, shards);
  refuse_duplicate_keys(*make_sharded_store(output, std::move(stores)));
  write_manifest(output, shards, overwrite);
}

}  // namespace imgpack
