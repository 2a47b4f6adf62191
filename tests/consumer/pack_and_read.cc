// Packs the folder named first into the file named second and reads it back, with nothing but the installed headers.
#include <cstdint>
#include <iostream>

#include <imgpack/build.h>
#include <imgpack/error.h>
#include <imgpack/store.h>
#include <imgpack/verify.h>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const imgpack::BuildReport report = imgpack::build(argv[1], argv[2], {});
    const auto store = imgpack::open_store(argv[2]);
    std::uint64_t bytes = 0;
    for (std::uint64_t record = 0; record < store->size(); ++record) bytes += store->bytes(record).payload.size();
    const bool good = store->size() == report.records && report.records > 0 && bytes == report.payload_bytes &&
                      imgpack::verify(*store, {}).damage_count == 0;
    std::cout << "imgpack " << imgpack::version() << ": " << store->size() << " records, " << bytes << " bytes\n";
    return good ? 0 : 1;
  } catch (const imgpack::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
