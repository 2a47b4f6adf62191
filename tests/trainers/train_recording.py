"""Runs examples/train.py and writes which records its steps have used.

    train_recording.py SCRIPT FOLDER ARGUMENTS...     FOLDER/<rank>.json: [[epoch, step, [record...]]...]
"""
import json
import os
import runpy
import sys
from pathlib import Path

import imgpack

script, folder, *arguments = sys.argv[1:]
steps = []


class Recording(imgpack.Loader):
    """Records the batches of train, which has no mask; a batch that is handed out is used."""

    def __iter__(self):
        return RecordingEpoch(self.batches())


class RecordingEpoch:
    def __init__(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        return self

    def __len__(self):
        return len(self.epoch)

    def __next__(self):
        batch = next(self.epoch)
        steps.append([batch.epoch, batch.step, batch.records.tolist()])
        return batch.images, batch.labels


imgpack.Loader = Recording
sys.argv = [script, *arguments]
runpy.run_path(script, run_name="__main__")
Path(folder, f"{os.environ.get('RANK', 0)}.json").write_text(json.dumps(steps))
