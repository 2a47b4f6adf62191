"""The usual advice for a faster DataLoader: decode, crop, resize and normalise with OpenCV instead of Pillow."""
from job import RATIO, SCALE, LoaderPeer, NotOffered, scale_and_shift


class Transform:
    """From a path to a normalised tensor."""

    def __init__(self, job):
        self.job = job
        self.scale, self.shift = scale_and_shift()

    def __call__(self, path):
        import cv2
        import torch
        image = cv2.imread(path, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION)
        if self.job.crop:
            image = self.random_crop(image)
        image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)
        return torch.from_numpy((image * self.scale - self.shift).transpose(2, 0, 1).copy())

    def random_crop(self, image):
        import cv2
        import torch
        from torchvision import transforms
        height, width = image.shape[:2]
        # Only the sizes matter to torchvision's own sampling of the crop.
        top, left, h, w = transforms.RandomResizedCrop.get_params(torch.empty(3, height, width), SCALE, RATIO)
        crop = cv2.resize(image[top:top + h, left:left + w], (self.job.size, self.job.size),
                          interpolation=cv2.INTER_LINEAR)
        return cv2.flip(crop, 1) if torch.rand(1).item() < 0.5 else crop


class OpenCvPeer(LoaderPeer):
    key = "opencv"
    name = "OpenCV in a DataLoader"
    needs = ("torchvision", "cv2")
    pixels = "OpenCV, bilinear without antialiasing"

    def prepare(self):
        import cv2
        cv2.setNumThreads(0)  # its threads would come on top of the worker processes
        return [path for path, _ in self.job.samples()]

    def random_read(self):
        raise NotOffered("it reads the same files as ImageFolder")

    def dataset(self):
        from torchvision.datasets import ImageFolder
        return ImageFolder(str(self.job.folder), Transform(self.job), loader=lambda path: path)


PEERS = [OpenCvPeer]
