#include "measure/batch_stream.h"

#include "imgpack/loader.h"

namespace imgpack::measure {

namespace {

LoaderOptions loader_options(const std::string& split, const BatchStreamOptions& options) {
  LoaderOptions loader;
  loader.split = split;
  loader.batch_size = options.batch_size;
  loader.device = options.device;
  loader.seed = options.seed;
  loader.transform = options.transform;
  loader.dtype = options.dtype;
  loader.layout = options.layout;
  loader.threads = options.threads;
  if (options.past_cache) loader.read = ReadMode::unbuffered;
  loader.prefetch_next_epoch = !options.single_pass;
  return loader;
}

class LoaderStream final : public BatchStream {
 public:
  LoaderStream(const Dataset& dataset, const std::string& split, const BatchStreamOptions& options)
      : loader_(dataset, loader_options(split, options)), single_pass_(options.single_pass) {}

  std::optional<std::uint32_t> next() override {
    batch_ = Batch();  // its memory can be used for what comes
    if (!epoch_) epoch_.emplace(loader_.epoch());
    std::optional<Batch> batch = epoch_->next();
    if (!batch && !single_pass_) {
      epoch_.emplace(loader_.epoch());
      batch = epoch_->next();
    }
    if (!batch) return std::nullopt;
    batch_ = *std::move(batch);
    return batch_.size();
  }
  std::uint64_t bytes_read() const override { return loader_.stats().bytes_read; }
  std::string transport() const override { return loader_.stats().transport; }

 private:
  Loader loader_;
  bool single_pass_;
  std::optional<Epoch> epoch_;
  Batch batch_;
};

}  // namespace

std::unique_ptr<BatchStream> stream_of(const Dataset& dataset, const std::string& split,
                                       const BatchStreamOptions& options) {
  return std::make_unique<LoaderStream>(dataset, split, options);
}

}  // namespace imgpack::measure
