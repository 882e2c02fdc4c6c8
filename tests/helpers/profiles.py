"""What TensorFlow's profiler records."""

import pathlib

import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2


def ops_in_profile(run, folder):
    """Returns the ops that ran: pairs of the profiler's name for one, and its type."""
    tf.profiler.experimental.start(str(folder))
    try:
        run()
    finally:
        tf.profiler.experimental.stop()
    (file,) = pathlib.Path(folder).rglob("*.xplane.pb")
    space = xplane_pb2.XSpace.FromString(file.read_bytes())
    events = (e for plane in space.planes for e in plane.event_metadata.values())
    found = (event.name.partition(":") for event in events)  # E.g. "f/Sin:Sin".
    return {(name, kind) for name, _, kind in found}
