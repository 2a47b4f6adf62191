"""FFCV: its own file, written from ImageFolder, with images encoded anew as JPEG (quality 90), or as raw pixels.

Its batches have the strides of channels_last, its default: NCHW costs it a copy of each batch on one thread."""
import numpy as np

from job import MEAN, RATIO, SCALE, STD, NotOffered, Peer


class FfcvPeer(Peer):
    """Subclasses say how images are written."""

    package = "ffcv"
    needs = ("torchvision", "cv2", "numba", "ffcv")
    mode = ""
    _loader = None

    def prepare(self):
        import cv2
        cv2.setNumThreads(0)  # its threads would come on top of FFCV's
        from ffcv.fields import IntField, RGBImageField
        from ffcv.writer import DatasetWriter
        from torchvision.datasets import ImageFolder
        self.path = self.job.work / f"{self.mode}.beton"
        fields = {"image": RGBImageField(write_mode=self.mode, jpeg_quality=90), "label": IntField()}
        writer = DatasetWriter(str(self.path), fields, page_size=1 << 25, num_workers=max(1, self.job.workers))
        writer.from_indexed_dataset(ImageFolder(str(self.job.folder)))
        return [self.path]

    def random_read(self):
        raise NotOffered("it gives out decoded images only")

    def make_loader(self):
        from ffcv.fields.basics import IntDecoder
        from ffcv.fields.rgb_image import RandomResizedCropRGBImageDecoder, SimpleRGBImageDecoder
        from ffcv.loader import Loader, OrderOption
        from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, ToTensor, ToTorchImage
        if self.job.crop:
            decode = [RandomResizedCropRGBImageDecoder((self.job.size, self.job.size), SCALE, RATIO),
                      RandomHorizontalFlip()]
        else:
            decode = [SimpleRGBImageDecoder()]
        normalize = NormalizeImage(255 * np.array(MEAN), 255 * np.array(STD), np.float32)
        return Loader(str(self.path), self.job.batch, num_workers=max(1, self.job.workers), os_cache=True,
                      order=OrderOption.RANDOM, drop_last=False, pipelines={
                          "image": [*decode, normalize, ToTensor(), ToTorchImage()],
                          "label": [IntDecoder(), ToTensor()]})

    def batches(self):
        if self._loader is None:
            self._loader = self.make_loader()
        for images, labels in self._loader:
            yield images, labels.flatten()

    def close(self):
        self._loader = None


class FfcvJpegPeer(FfcvPeer):
    key = "ffcv"
    name = "FFCV, JPEG"
    mode = "jpg"
    pixels = "libjpeg-turbo, of images encoded a second time; OpenCV, area"
    exact = False


class FfcvRawPeer(FfcvPeer):
    key = "ffcv-raw"
    name = "FFCV, raw"
    mode = "raw"
    pixels = "OpenCV, area"


PEERS = [FfcvJpegPeer, FfcvRawPeer]
