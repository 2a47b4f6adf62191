// What check_container() looks at while it walks the trees of a file: one visitor for each kind of database.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "formats/lmdb/canonical.h"
#include "formats/lmdb/container.h"
#include "formats/lmdb/tree_walk.h"
#include "imgpack/error.h"
#include "imgpack/store.h"

namespace imgpack::lmdb {

/// Thrown by Report when its sink has had enough.
struct StopChecking {};

/// Where damage goes.
class Report {
 public:
  Report(const PageReader& pages, DamageSink& sink) : pages_(pages), sink_(sink) {}

  void damage(std::uint64_t offset, std::string what, std::optional<std::uint64_t> record = std::nullopt);
  void damage(const Error& error, std::optional<std::uint64_t> record = std::nullopt);
  bool found() const noexcept { return found_; }

 private:
  const PageReader& pages_;
  DamageSink& sink_;
  bool found_ = false;
};

/// What all visitors of one check share. All references outlive them.
struct CheckContext {
  const Container& container;
  const std::function<void()>& release;
  Report& report;
  PageSet& used;

  const PageReader& pages() const noexcept { return container.pages(); }
};

/// Checks the unused bytes of each page; entries are for derived classes.
class CheckedTree : public TreeVisitor {
 public:
  explicit CheckedTree(const CheckContext& context) : context_(context), pages_(context.pages()) {}

  void visit_page(const Page& page) override;
  void visit_entry(const LeafNode& node, const Value& value) override;
  void visit_damage(const Error& error) override;

 protected:
  virtual void check_entry(const LeafNode& node, const Value& value) = 0;
  /// The record that damage belongs to which the walk meets now.
  virtual std::optional<std::uint64_t> current_record() const { return std::nullopt; }
  /// The free list may keep pages that its shrunken entry no longer needs.
  virtual bool exact_overflow() const { return true; }

  void damage(std::uint64_t offset, std::string what, std::optional<std::uint64_t> record = std::nullopt) {
    context_.report.damage(offset, std::move(what), record);
  }
  /// Whether the key is that of record `next`; reports if not.
  bool check_number(const LeafNode& node, std::uint64_t next);

  const CheckContext& context_;
  const PageReader& pages_;

 private:
  void touch();
  void check_overflow(const LeafNode& node, const Value& value);

  std::uint64_t touched_ = 0;
  std::vector<NodeRange> ranges_;
};

/// The list of free pages: each one unused and zero.
class CheckFreeList final : public CheckedTree {
 public:
  using CheckedTree::CheckedTree;

 protected:
  bool exact_overflow() const override { return false; }
  void check_entry(const LeafNode& node, const Value& value) override;

 private:
  void check_free_page(std::uint64_t number, std::uint64_t named_at);
};

/// Payloads, numbered without a hole, then the named databases.
class CheckMain final : public CheckedTree {
 public:
  using CheckedTree::CheckedTree;

 protected:
  std::optional<std::uint64_t> current_record() const override;
  void check_entry(const LeafNode& node, const Value& value) override;

 private:
  std::uint64_t next_ = 0;
};

/// A named database and its digest.
class CheckNamed : public CheckedTree {
 public:
  using CheckedTree::CheckedTree;
  std::uint64_t digest() const noexcept { return digest_.value(); }

 protected:
  void check_entry(const LeafNode& node, const Value& value) final;
  virtual void check_named(const LeafNode& node, const Value& value) = 0;

 private:
  EntryDigest digest_;
};

class CheckRows final : public CheckNamed {
 public:
  using CheckNamed::CheckNamed;
  std::uint64_t payload_bytes = 0;
  std::uint64_t pixels = 0;
  std::uint64_t with_segments = 0;
  std::uint64_t segments_fingerprint = 0;  ///< of (segments size, record) pairs

 protected:
  std::optional<std::uint64_t> current_record() const override { return next_; }
  void check_named(const LeafNode& node, const Value& value) override;

 private:
  void check_payload_size(std::uint64_t size, std::uint64_t record);

  std::uint64_t next_ = 0;
};

class CheckKeys final : public CheckNamed {
 public:
  using CheckNamed::CheckNamed;
  std::uint64_t fingerprint = 0;  ///< of (key hash, record) pairs

 protected:
  std::optional<std::uint64_t> current_record() const override { return next_; }
  void check_named(const LeafNode& node, const Value& value) override;

 private:
  std::uint64_t next_ = 0;
};

class CheckLookup final : public CheckNamed {
 public:
  using CheckNamed::CheckNamed;
  std::uint64_t numbers = 0;
  std::uint64_t fingerprint = 0;  ///< of (key hash, record) pairs

 protected:
  void check_named(const LeafNode& node, const Value& value) override;
};

class CheckSegments final : public CheckNamed {
 public:
  using CheckNamed::CheckNamed;
  std::uint64_t count = 0;
  std::uint64_t fingerprint = 0;  ///< of (segments size, record) pairs

 protected:
  void check_named(const LeafNode& node, const Value& value) override;
};

class CheckMeta final : public CheckNamed {
 public:
  using CheckNamed::CheckNamed;
  std::string dataset_digest;
  std::string layout_digest;
  nlohmann::json digests;
  std::uint64_t digests_offset = 0;

 protected:
  void check_named(const LeafNode& node, const Value& value) override;
};

}  // namespace imgpack::lmdb
