// Tars for tests, written by libarchive into memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace imgpack::testing {

class TarBuilder {
 public:
  enum class Format { ustar, pax, gnu, pax_gzip };

  explicit TarBuilder(Format format = Format::pax);
  TarBuilder(TarBuilder&&) noexcept;
  ~TarBuilder();

  TarBuilder& add(const std::string& name, std::span<const std::byte> content);
  TarBuilder& add(const std::string& name, std::string_view content);
  TarBuilder& add_directory(const std::string& name);
  TarBuilder& add_symlink(const std::string& name, const std::string& target);
  TarBuilder& add_hardlink(const std::string& name, const std::string& target);
  /// A file of `size` bytes of which only `content`, at `offset`, is stored. Pax only.
  TarBuilder& add_sparse(const std::string& name, std::size_t size, std::size_t offset, std::string_view content);
  /// The whole tar, with its end mark; the builder is finished then.
  std::vector<std::byte> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace imgpack::testing
