// What NVIDIA's nvJPEG makes of a folder of JPEGs: images a second from host memory to RGB on the GPU, decode only.
//
//   nvjpeg_baseline FOLDER [--batch N...] [--threads N...] [--seconds S] [--rounds N] [--json FILE]
//
// For each of its backends, nvjpegDecodeBatched() and nvjpegDecode(), with the images of a batch shared by so many host
// threads, each with a decoder and a stream of its own. Images that a backend refuses are left out of its figure, and
// how many that are is said. The best round of each counts.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nvjpeg.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "reader/gpu/cuda_check.h"
#include "reader/gpu/cuda_handles.h"

namespace {

namespace fs = std::filesystem;
using namespace imgpack::gpu;
using Clock = std::chrono::steady_clock;
using Bytes = std::vector<unsigned char>;

constexpr nvjpegOutputFormat_t kFormat = NVJPEG_OUTPUT_RGBI;

struct Options {
  fs::path folder;
  std::vector<int> batches = {256, 1024};
  std::vector<int> threads = {1, 2, 4, 8, 16};
  double seconds = 1;
  int rounds = 3;
  std::string json;
};

struct Backend {
  const char* name;
  nvjpegBackend_t number;
};
constexpr Backend kBackends[] = {{"default", NVJPEG_BACKEND_DEFAULT},
                                 {"hybrid", NVJPEG_BACKEND_HYBRID},
                                 {"gpu_hybrid", NVJPEG_BACKEND_GPU_HYBRID},
                                 {"hardware", NVJPEG_BACKEND_HARDWARE}};

void check_nvjpeg(nvjpegStatus_t status, const char* what) {
  if (status != NVJPEG_STATUS_SUCCESS) {
    throw std::runtime_error(fmt::format("nvJPEG, {}: status {}", what, static_cast<int>(status)));
  }
}

/// An nvJPEG object and how it is destroyed.
template <class Handle, nvjpegStatus_t (*destroy)(Handle)>
struct Destroy {
  using pointer = Handle;
  void operator()(Handle handle) const { (void)destroy(handle); }
};
using Library = std::unique_ptr<nvjpegHandle, Destroy<nvjpegHandle_t, nvjpegDestroy>>;
using State = std::unique_ptr<nvjpegJpegState, Destroy<nvjpegJpegState_t, nvjpegJpegStateDestroy>>;

Library make_library(nvjpegBackend_t backend) {
  nvjpegHandle_t handle = nullptr;
  const nvjpegStatus_t status = nvjpegCreateEx(backend, nullptr, nullptr, NVJPEG_FLAGS_DEFAULT, &handle);
  return Library(status == NVJPEG_STATUS_SUCCESS ? handle : nullptr);
}

struct Image {
  const Bytes* file = nullptr;
  int width = 0;
  int height = 0;
};

/// One host thread's part of every batch.
class Worker {
 public:
  Worker(nvjpegHandle_t library, const std::vector<Image>& images, bool batched)
      : library_(library), batched_(batched) {
    nvjpegJpegState_t state = nullptr;
    check_nvjpeg(nvjpegJpegStateCreate(library, &state), "making a decoder");
    state_.reset(state);
    set(images);
    if (batched) {
      check_nvjpeg(nvjpegDecodeBatchedInitialize(library, state, static_cast<int>(images.size()), 1, kFormat),
                   "beginning a batch");
    }
  }

  /// REQUIRES: as many images as before.
  void set(const std::vector<Image>& images) {
    data_.clear();
    sizes_.clear();
    destinations_.clear();
    std::size_t room = 0;
    for (const Image& image : images) room += bytes_of(image);
    if (room > out_.size()) out_ = DeviceBuffer(room);
    std::byte* at = out_.data();
    for (const Image& image : images) {
      data_.push_back(image.file->data());
      sizes_.push_back(image.file->size());
      nvjpegImage_t destination{};
      destination.channel[0] = reinterpret_cast<unsigned char*>(at);
      destination.pitch[0] = static_cast<std::size_t>(image.width) * 3;
      destinations_.push_back(destination);
      at += bytes_of(image);
    }
  }

  nvjpegStatus_t decode() {
    if (data_.empty()) return NVJPEG_STATUS_SUCCESS;
    if (batched_) {
      return nvjpegDecodeBatched(library_, state_.get(), data_.data(), sizes_.data(), destinations_.data(),
                                 stream_.get());
    }
    for (std::size_t i = 0; i < data_.size(); ++i) {
      const nvjpegStatus_t status =
          nvjpegDecode(library_, state_.get(), data_[i], sizes_[i], kFormat, &destinations_[i], stream_.get());
      if (status != NVJPEG_STATUS_SUCCESS) return status;
      wait();  // the next image may need larger buffers, and it does not wait for those that are in use
    }
    return NVJPEG_STATUS_SUCCESS;
  }
  void wait() { stream_.synchronize(); }

 private:
  static std::size_t bytes_of(const Image& image) {
    return (static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height) * 3 + 255) / 256 * 256;
  }

  nvjpegHandle_t library_;
  bool batched_;
  Stream stream_ = Stream::create();
  DeviceBuffer out_;
  State state_;  // before the stream ends
  std::vector<const unsigned char*> data_;
  std::vector<std::size_t> sizes_;
  std::vector<nvjpegImage_t> destinations_;
};

std::vector<Bytes> read_folder(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    std::string extension = entry.path().extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (entry.is_regular_file() && (extension == ".jpg" || extension == ".jpeg")) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> files;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    files.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (files.empty()) throw std::runtime_error("there are no JPEGs in " + folder.string());
  return files;
}

/// The images that the backend decodes one by one.
std::vector<Image> accepted(nvjpegHandle_t library, const std::vector<Bytes>& files, bool batched) {
  std::vector<Image> images;
  std::unique_ptr<Worker> worker;  // making one takes long
  for (const Bytes& file : files) {
    int components = 0;
    nvjpegChromaSubsampling_t subsampling = NVJPEG_CSS_UNKNOWN;
    int widths[NVJPEG_MAX_COMPONENT] = {};
    int heights[NVJPEG_MAX_COMPONENT] = {};
    if (nvjpegGetImageInfo(library, file.data(), file.size(), &components, &subsampling, widths, heights) !=
        NVJPEG_STATUS_SUCCESS) {
      continue;
    }
    const Image image{&file, widths[0], heights[0]};
    if (worker) {
      worker->set({image});
    } else {
      worker = std::make_unique<Worker>(library, std::vector<Image>{image}, batched);
    }
    if (worker->decode() == NVJPEG_STATUS_SUCCESS) {
      worker->wait();
      images.push_back(image);
    } else {
      worker.reset();  // who knows in which state it is
    }
  }
  return images;
}

/// Images a second of `batch` images by so many threads; 0 where the backend fails.
double measure(nvjpegHandle_t library, const std::vector<Image>& images, int batch, int threads, bool batched,
               const Options& options) {
  std::vector<std::vector<Image>> parts(static_cast<std::size_t>(threads));
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch); ++i) {
    parts[i % parts.size()].push_back(images[i % images.size()]);
  }
  std::vector<std::unique_ptr<Worker>> workers;
  for (const auto& part : parts) workers.push_back(std::make_unique<Worker>(library, part, batched));
  bool over = false;
  std::mutex mutex;
  std::exception_ptr failure;
  std::barrier step(threads + 1);
  std::vector<std::jthread> running;
  for (auto& worker : workers) {
    running.emplace_back([&] {
      (void)cudaSetDevice(0);  // some of nvJPEG's calls need a context, and do not make it the thread's
      for (;;) {
        step.arrive_and_wait();
        if (over) return;
        try {
          check_nvjpeg(worker->decode(), "decoding");
          worker->wait();
        } catch (...) {
          const std::lock_guard lock(mutex);
          failure = std::current_exception();
        }
        step.arrive_and_wait();
      }
    });
  }
  double best = 0;
  for (int round = -1; round < options.rounds && !failure; ++round) {  // one to warm up
    std::int64_t done = 0;
    const auto begin = Clock::now();
    double seconds = 0;
    do {
      step.arrive_and_wait();
      step.arrive_and_wait();
      done += batch;
      seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    } while (!failure && seconds < (round < 0 ? 0 : options.seconds));
    if (round >= 0) best = std::max(best, static_cast<double>(done) / seconds);
  }
  over = true;
  step.arrive_and_wait();
  running.clear();
  if (failure) std::rethrow_exception(failure);
  return best;
}

void run(const Options& options) {
  const std::vector<Bytes> files = read_folder(options.folder);
  nlohmann::json results = nlohmann::json::array();
  double best = 0;
  fmt::print("{:<12} {:<8} {:>6} {:>7} {:>10} {:>9}\n", "backend", "calls", "batch", "threads", "images/s", "left out");
  for (const Backend& backend : kBackends) {
    const Library library = make_library(backend.number);
    if (!library) {
      fmt::print("{:<12} not on this system\n", backend.name);
      continue;
    }
    for (const bool batched : {true, false}) {
      const std::vector<Image> images = accepted(library.get(), files, batched);
      const char* const calls = batched ? "batched" : "single";
      const std::size_t left_out = files.size() - images.size();
      if (images.empty()) {
        fmt::print("{:<12} {:<8} decodes none of the images\n", backend.name, calls);
        continue;
      }
      for (const int batch : options.batches) {
        for (const int threads : options.threads) {
          try {
            const double rate = measure(library.get(), images, batch, threads, batched, options);
            best = std::max(best, rate);
            fmt::print("{:<12} {:<8} {:>6} {:>7} {:>10.0f} {:>9}\n", backend.name, calls, batch, threads, rate,
                       left_out);
            results.push_back({{"backend", backend.name},
                               {"calls", calls},
                               {"batch", batch},
                               {"threads", threads},
                               {"images_per_s", rate},
                               {"left_out", left_out}});
          } catch (const std::exception& error) {
            fmt::print("{:<12} {:<8} {:>6} {:>7} failed: {}\n", backend.name, calls, batch, threads, error.what());
          }
        }
      }
    }
  }
  fmt::print("best: {:.0f} images/s\n", best);
  if (options.json.empty()) return;
  int major = 0;
  int minor = 0;
  check_nvjpeg(nvjpegGetProperty(MAJOR_VERSION, &major), "asking for the version");
  check_nvjpeg(nvjpegGetProperty(MINOR_VERSION, &minor), "asking for the version");
  std::ofstream file(options.json);
  file << nlohmann::json{{"benchmark", "nvjpeg"},
                         {"version", fmt::format("{}.{}", major, minor)},
                         {"images", files.size()},
                         {"best_images_per_s", best},
                         {"results", results}}
              .dump(1)
       << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write " + options.json);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"nvJPEG on a folder of JPEGs"};
  app.add_option("folder", options.folder, "JPEGs, in subfolders too")->required()->check(CLI::ExistingDirectory);
  app.add_option("--batch", options.batches, "Images of a batch")->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "Host threads that share a batch")->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds, "Of each measurement")->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds, "Measurements of each way")->check(CLI::PositiveNumber);
  app.add_option("--json", options.json, "Where to write the results");
  CLI11_PARSE(app, argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // it takes a while
  try {
    run(options);
  } catch (const std::exception& error) {
    std::cerr << "nvjpeg_baseline: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
