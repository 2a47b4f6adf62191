#include "packer/sources/test_tar.h"

#include <stdexcept>

#include <archive.h>
#include <archive_entry.h>

#include "tests/support/files.h"

namespace imgpack::testing {
namespace {

struct FreeEntry {
  void operator()(archive_entry* entry) const noexcept { archive_entry_free(entry); }
};
using Entry = std::unique_ptr<archive_entry, FreeEntry>;

Entry new_entry(const std::string& name, unsigned type, std::size_t size) {
  Entry entry(archive_entry_new());
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), type);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
  archive_entry_set_perm(entry.get(), 0644);
  return entry;
}

la_ssize_t append(archive*, void* self, const void* data, std::size_t size) {
  auto& out = *static_cast<std::vector<std::byte>*>(self);
  const std::byte* bytes = static_cast<const std::byte*>(data);
  out.insert(out.end(), bytes, bytes + size);
  return static_cast<la_ssize_t>(size);
}

}  // namespace

struct TarBuilder::State {
  std::vector<std::byte> out;
  archive* handle = archive_write_new();

  ~State() { archive_write_free(handle); }
  void check(int result) const {
    // A name outside ASCII in the "C" locale is a warning; the bytes are written as they are.
    if (result < ARCHIVE_WARN) throw std::runtime_error(archive_error_string(handle));
  }
  void write(const Entry& entry, std::span<const std::byte> content) const {
    check(archive_write_header(handle, entry.get()));
    if (archive_write_data(handle, content.data(), content.size()) < 0) check(ARCHIVE_FATAL);
  }
};

TarBuilder::TarBuilder(Format format) : state_(std::make_unique<State>()) {
  archive* const a = state_->handle;
  switch (format) {
    case Format::ustar:
      archive_write_set_format_ustar(a);
      break;
    case Format::gnu:
      archive_write_set_format_gnutar(a);
      break;
    case Format::pax:
      archive_write_set_format_pax_restricted(a);
      break;
    case Format::pax_gzip:
      archive_write_set_format_pax_restricted(a);
      archive_write_add_filter_gzip(a);
      break;
  }
  archive_write_set_bytes_in_last_block(a, 1);
  state_->check(archive_write_open(a, &state_->out, nullptr, append, nullptr));
}

TarBuilder::TarBuilder(TarBuilder&&) noexcept = default;
TarBuilder::~TarBuilder() = default;

TarBuilder& TarBuilder::add(const std::string& name, std::span<const std::byte> content) {
  state_->write(new_entry(name, AE_IFREG, content.size()), content);
  return *this;
}

TarBuilder& TarBuilder::add(const std::string& name, std::string_view content) {
  return add(name, as_bytes(content));
}

TarBuilder& TarBuilder::add_directory(const std::string& name) {
  state_->write(new_entry(name, AE_IFDIR, 0), {});
  return *this;
}

TarBuilder& TarBuilder::add_symlink(const std::string& name, const std::string& target) {
  const Entry entry = new_entry(name, AE_IFLNK, 0);
  archive_entry_set_symlink(entry.get(), target.c_str());
  state_->write(entry, {});
  return *this;
}

TarBuilder& TarBuilder::add_hardlink(const std::string& name, const std::string& target) {
  const Entry entry = new_entry(name, AE_IFREG, 0);
  archive_entry_set_hardlink(entry.get(), target.c_str());
  state_->write(entry, {});
  return *this;
}

TarBuilder& TarBuilder::add_sparse(const std::string& name, std::size_t size, std::size_t offset,
                                   std::string_view content) {
  const Entry entry = new_entry(name, AE_IFREG, size);
  archive_entry_sparse_add_entry(entry.get(), static_cast<la_int64_t>(offset), static_cast<la_int64_t>(content.size()));
  std::string whole(size, '\0');
  whole.replace(offset, content.size(), content);
  state_->write(entry, as_bytes(whole));
  return *this;
}

std::vector<std::byte> TarBuilder::finish() {
  state_->check(archive_write_close(state_->handle));
  return std::move(state_->out);
}

}  // namespace imgpack::testing
