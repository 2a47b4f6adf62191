#include <utility>

#include <fmt/format.h>

#include "formats/key_slices.h"
#include "formats/shards.h"
#include "imgpack/build.h"
#include "imgpack/error.h"

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

/// A manifest holds no records: written over one of its own shards, it would lose that shard's.
void refuse_output_among(const std::vector<ManifestShard>& shards, const fs::path& output) {
  for (const ManifestShard& shard : shards) {
    std::error_code absent;
    if (!fs::equivalent(shard.path, output, absent)) continue;
    throw Error(ErrorCode::invalid_argument, "it is one of the files to join: choose another name for the manifest",
                {.file = output.string(), .record = {}, .offset = {}});
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
  refuse_output_among(shards, output);
  refuse_duplicate_keys(*make_sharded_store(output, std::move(stores)));
  write_manifest(output, shards, overwrite);
}

}  // namespace imgpack
