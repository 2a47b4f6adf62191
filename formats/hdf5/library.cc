#include "formats/hdf5/library.h"

#include <string_view>

#include <pthread.h>

namespace imgpack::hdf5 {

namespace {

constexpr std::size_t kMaxErrorText = 300;

std::mutex& library_mutex() {
  // Never destroyed: libhdf5 may still be used by other objects with static lifetime.
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

void watch_forks() {
  static const int registered = ::pthread_atfork([] { library_mutex().lock(); }, [] { library_mutex().unlock(); },
                                                 [] { library_mutex().unlock(); });
  static_cast<void>(registered);
}

struct Words {
  std::string text;
  std::string_view last;
};

herr_t collect(unsigned, const H5E_error2_t* error, void* data) noexcept {
  auto& words = *static_cast<Words*>(data);
  const std::string_view said = error->desc == nullptr ? "" : error->desc;
  if (said.empty() || said == words.last || words.text.size() + said.size() > kMaxErrorText) return 0;
  if (!words.text.empty()) words.text += "; ";
  words.text += said;
  words.last = said;
  return 0;
}

}  // namespace

Session::Session() {
  watch_forks();
  lock_ = std::unique_lock(library_mutex());
  H5open();
  H5Eget_auto2(H5E_DEFAULT, &printer_, &printer_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Session::~Session() {
  H5Eset_auto2(H5E_DEFAULT, printer_, printer_data_);
}

std::string error_text() {
  Words words;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, &words);
  return words.text;
}

}  // namespace imgpack::hdf5
