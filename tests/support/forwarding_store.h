// A store that passes everything on to another one, for tests that change or watch a part of that.
#pragma once

#include <memory>
#include <utility>

#include "imgpack/store.h"

namespace imgpack::testing {

class ForwardingStore : public StoreReader {
 public:
  explicit ForwardingStore(std::unique_ptr<StoreReader> store) : store_(std::move(store)) {}
  Format format() const noexcept override { return store_->format(); }
  const std::filesystem::path& path() const noexcept override { return store_->path(); }
  std::uint64_t size() const noexcept override { return store_->size(); }
  const DatasetInfo& info() const noexcept override { return store_->info(); }
  RecordMeta meta(std::uint64_t record) const override { return store_->meta(record); }
  std::string_view key(std::uint64_t record) const override { return store_->key(record); }
  RecordBytes bytes(std::uint64_t record) const override { return store_->bytes(record); }
  std::span<const std::byte> field(std::uint64_t record, std::size_t field) const override {
    return store_->field(record, field);
  }
  PayloadPlace place(std::uint64_t record) const override { return store_->place(record); }
  std::vector<std::span<const std::byte>> mappings() const override { return store_->mappings(); }
  std::optional<std::uint64_t> find(std::string_view key) const override { return store_->find(key); }
  void prefetch_entry(std::uint64_t record) const noexcept override { store_->prefetch_entry(record); }
  void prefetch(std::uint64_t first, std::uint64_t count) const override { store_->prefetch(first, count); }
  void release(std::uint64_t first, std::uint64_t count) const override { store_->release(first, count); }
  void check_container(DamageSink& sink) const override { store_->check_container(sink); }

 private:
  std::unique_ptr<StoreReader> store_;
};

}  // namespace imgpack::testing
