#include "reader/gpu/registration_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "imgpack/error.h"

namespace imgpack::gpu {

namespace {

std::string gigabytes(std::uint64_t bytes) {
  if (bytes < 1'000'000) return fmt::format("{} bytes", bytes);
  if (bytes < 100'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

std::uint64_t whole_pages(std::uint64_t bytes, std::uint64_t page) {
  return (bytes + page - 1) / page * page;
}

/// What may be pinned, and what says so.
struct Allowance {
  std::uint64_t bytes = 0;
  std::string reason;
};

Allowance allowance(const RegistrationWish& wish) {
  const std::uint64_t available = wish.available_bytes;
  const std::uint64_t most = available - available / 10;
  if (wish.limit_bytes == 0) {
    return {available / 2, fmt::format("{} of memory are free, of which half may be pinned (registered_memory sets "
                                       "another limit)",
                                       gigabytes(available))};
  }
  if (wish.limit_bytes <= most) {
    return {wish.limit_bytes, fmt::format("registered_memory is {}", gigabytes(wish.limit_bytes))};
  }
  return {most, fmt::format("only {} of memory are free", gigabytes(available))};
}

}  // namespace

RegistrationPlan plan_registration(std::span<const HostRange> mappings, const RegistrationWish& wish) {
  RegistrationPlan plan;
  for (const HostRange mapping : mappings) plan.total_bytes += whole_pages(mapping.size(), wish.page_bytes);
  if (wish.transport != DeviceTransport::automatic && wish.transport != DeviceTransport::zero_copy) {
    plan.reason = "asked for";
    return plan;
  }
  const Allowance allowed = allowance(wish);
  std::uint64_t left = allowed.bytes / wish.page_bytes * wish.page_bytes;
  for (const HostRange mapping : mappings) {
    const std::uint64_t size = whole_pages(mapping.size(), wish.page_bytes);
    for (std::uint64_t at = 0; at < size && left != 0;) {
      const std::uint64_t window = std::min({wish.window_bytes, size - at, left});
      plan.windows.emplace_back(mapping.data() + at, static_cast<std::size_t>(window));
      at += window;
      left -= window;
    }
  }
  if (plan.total_bytes > allowed.bytes / wish.page_bytes * wish.page_bytes) plan.reason = allowed.reason;
  return plan;
}

std::string describe_registration(DeviceTransport demanded, std::uint64_t registered_bytes, std::uint64_t total_bytes,
                                  const std::string& reason) {
  if (registered_bytes >= total_bytes && total_bytes != 0) {
    return fmt::format("zero_copy: all {} of the dataset are registered", gigabytes(total_bytes));
  }
  if (demanded == DeviceTransport::zero_copy && total_bytes != 0) {
    throw Error(ErrorCode::unsupported,
                fmt::format("zero_copy transport is not possible: only {} of {} can be registered, as {}; transport "
                            "auto takes the rest through pinned memory",
                            gigabytes(registered_bytes), gigabytes(total_bytes), reason));
  }
  if (registered_bytes == 0) return fmt::format("pinned: {}", total_bytes == 0 ? "the dataset is empty" : reason);
  return fmt::format("zero_copy for {} of {} of the dataset, pinned for the rest: {}", gigabytes(registered_bytes),
                     gigabytes(total_bytes), reason);
}

}  // namespace imgpack::gpu
