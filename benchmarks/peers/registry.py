"""All peers, in the order of the table."""
import importlib

MODULES = ("image_folder", "opencv", "lmdb", "h5py", "tfrecord", "webdataset", "streaming", "ffcv", "dali", "imgpack")

PEERS = [peer for name in MODULES for peer in importlib.import_module(f"peer_{name}").PEERS]
