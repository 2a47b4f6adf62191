"""NVIDIA DALI: its file reader, its decoder that decodes only the random crop, and its fused flip and normalisation, all on
the CPU, or with decoding ("mixed") and the rest on the GPU."""
from job import MEAN, RATIO, SCALE, STD, SHUFFLE_BUFFER, NotOffered, Peer


class DaliPeer(Peer):
    """Subclasses say where it works."""

    package = "dali"
    needs = ("torch", "nvidia.dali")
    order = f"in a buffer of {SHUFFLE_BUFFER}"
    gpu = False
    _iterator = None

    def prepare(self):
        return [path for path, _ in self.job.samples()]

    def random_read(self):
        raise NotOffered("it reads its list of files from front to back")

    def make_pipeline(self):
        import nvidia.dali.fn as fn
        import nvidia.dali.types as types
        from nvidia.dali import pipeline_def
        job, device = self.job, "mixed" if self.gpu else "cpu"
        files, labels = (list(column) for column in zip(*job.samples()))

        @pipeline_def(batch_size=job.batch, num_threads=max(1, job.workers), device_id=0 if self.gpu else None, seed=1)
        def pipeline():
            data, label = fn.readers.file(files=files, labels=labels, random_shuffle=True, name="Reader",
                                          initial_fill=SHUFFLE_BUFFER)
            mirror = 0
            if job.crop:
                images = fn.decoders.image_random_crop(data, device=device, output_type=types.RGB,
                                                       random_area=SCALE, random_aspect_ratio=RATIO)
                images = fn.resize(images, resize_x=job.size, resize_y=job.size, interp_type=types.INTERP_LINEAR,
                                   antialias=True)
                mirror = fn.random.coin_flip()
            else:
                images = fn.decoders.image(data, device=device, output_type=types.RGB)
            images = fn.crop_mirror_normalize(images, dtype=types.FLOAT, output_layout="CHW", mirror=mirror,
                                              mean=[255 * value for value in MEAN], std=[255 * value for value in STD])
            return images, label.gpu() if self.gpu else label

        return pipeline()

    def batches(self):
        from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy
        if self._iterator is None:
            pipeline = self.make_pipeline()
            pipeline.build()
            self._iterator = DALIGenericIterator([pipeline], ["images", "labels"], reader_name="Reader",
                                                 last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True)
        for batch in self._iterator:
            yield batch[0]["images"], batch[0]["labels"].flatten().long()

    def close(self):
        self._iterator = None


class DaliCpuPeer(DaliPeer):
    key = "dali"
    name = "DALI, CPU"
    pixels = "libjpeg-turbo; DALI, linear with antialiasing"


class DaliGpuPeer(DaliPeer):
    key = "dali-gpu"
    name = "DALI, GPU"
    pixels = "nvJPEG; DALI, linear with antialiasing"
    exact = False
    gpu = True

    def unsuitable(self):
        import torch
        return None if torch.cuda.is_available() else "torch sees no GPU"


PEERS = [DaliCpuPeer, DaliGpuPeer]
