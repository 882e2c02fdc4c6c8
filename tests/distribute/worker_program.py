"""Trains as one of the workers of TF_CONFIG; the first one writes a JSON file.

Arguments: the file, and the names of trainings.
"""

import faulthandler
import json
import pathlib
import sys

import tensorflow as tf

from tests.distribute.reading import read
from tests.distribute.summing import sums
from tests.distribute.traffic import traffic
from tests.distribute.trainings import TRAININGS

TIMEOUT_S = 300


def main():
    faulthandler.dump_traceback_later(TIMEOUT_S, exit=True)
    path, *names = sys.argv[1:]
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    found = {name: TRAININGS[name](strategy) for name in names}
    found["sums"] = sums(strategy)
    found["read"] = read(strategy)
    found["traffic"] = traffic(strategy)
    if strategy.cluster_resolver.task_id == 0:
        pathlib.Path(path).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
