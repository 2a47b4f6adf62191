"""torchvision's ImageFolder in a DataLoader: loose files, decoded by Pillow."""
from job import LoaderPeer


class ImageFolderPeer(LoaderPeer):
    key = "image-folder"
    name = "ImageFolder"
    needs = ("torchvision",)

    def prepare(self):
        self.paths = [path for path, _ in self.job.samples()]
        return self.paths

    def random_read(self):
        def read(index):
            with open(self.paths[index], "rb") as file:
                return file.read()
        return read

    def dataset(self):
        import pillow
        from torchvision.datasets import ImageFolder
        return ImageFolder(str(self.job.folder), pillow.transform(self.job))


PEERS = [ImageFolderPeer]
