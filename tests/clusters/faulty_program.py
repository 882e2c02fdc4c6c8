"""A task of a cluster that meets the others, and then has a fault before TensorFlow.

Usage: python -m tests.clusters.faulty_program none|stopped|port_taken SECONDS
"""

import os
import signal
import socket
import sys

from recursive_tf.distribute import distribution


def main(fault, timeout_s):
    resolver = distribution.cluster_resolver()
    wait = distribution.wait_for_cluster

    def wait_and_fail(*arguments):
        wait(*arguments)
        if fault == "stopped":
            os.kill(os.getpid(), signal.SIGSTOP)
        if fault == "port_taken":
            address = resolver.cluster_spec().task_address("worker", resolver.task_id)
            kept.append(socket.create_server(("", int(address.rpartition(":")[2]))))

    kept = []
    distribution.wait_for_cluster = wait_and_fail
    try:
        distribution.make_distribution("multi_worker", timeout_s=timeout_s)
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
