"""Trains with one replica, or with some in this process; writes a JSON file.

Arguments: how many replicas, the file, and the names of trainings.
"""

import faulthandler
import json
import pathlib
import sys

import tensorflow as tf

from tests.distribute.looking_across import DEVICES, look_across
from tests.distribute.reading import read
from tests.distribute.summing import sums
from tests.distribute.trainings import TRAININGS

TIMEOUT_S = 300


def main():
    faulthandler.dump_traceback_later(TIMEOUT_S, exit=True)
    replicas, path, *names = sys.argv[1:]
    replicas = int(replicas)
    [cpu] = tf.config.list_physical_devices("CPU")
    parts = [tf.config.LogicalDeviceConfiguration()] * DEVICES
    tf.config.set_logical_device_configuration(cpu, parts)
    strategy = tf.distribute.get_strategy()
    if replicas > 1:
        devices = [f"CPU:{number}" for number in range(replicas)]
        strategy = tf.distribute.MirroredStrategy(devices)
    found = {name: TRAININGS[name](strategy) for name in names}
    found["sums"] = sums(strategy)
    if replicas > 1:
        found["read"] = read(strategy)
        found["across devices"] = look_across()
    pathlib.Path(path).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
