// Reads a packed dataset from the first record to the last, as a training program's simplest loop would, and says how
// fast that was:
//   read_packed imagenet.rec
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iostream>
#include <memory>
#include <vector>

#include "imgpack/store.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: read_packed FILE\n";
    return 2;
  }
  try {
    const std::unique_ptr<imgpack::StoreReader> store = imgpack::open_store(argv[1]);
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::byte> image;  // stands for whatever the payload is handed to
    std::uint64_t bytes = 0;
    std::uint64_t labelled = 0;
    for (std::uint64_t record = 0; record < store->size(); ++record) {
      const imgpack::RecordBytes data = store->bytes(record);
      image.assign(data.payload.begin(), data.payload.end());
      bytes += image.size();
      if (store->meta(record).label != imgpack::kNoLabel) ++labelled;
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    const double rate = seconds.count() > 0 ? 1 / seconds.count() : 0;
    std::cout << store->size() << " records read (" << labelled << " labelled), " << bytes << " bytes, "
              << static_cast<std::uint64_t>(static_cast<double>(store->size()) * rate) << " images/s, "
              << static_cast<std::uint64_t>(static_cast<double>(bytes) * rate / 1e6) << " MB/s\n";
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "read_packed: " << error.what() << '\n';
    return 1;
  }
}
