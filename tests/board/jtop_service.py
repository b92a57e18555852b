"""jetson-stats' real service, started as root in a namespace of its own where /sys is an emulated tree.

Only what an x86 machine lacks is replaced: the board's identity, and the folder of its configuration.
"""

import signal
import sys

import jtop.core.config as config
import jtop.service as service

service.get_hardware = lambda: {"Model": "NVIDIA Jetson AGX Orin (emulated)", "L4T": "35.4.1"}
config.get_config_service = lambda *_: sys.argv[1]

if __name__ == "__main__":
    server = service.JtopServer(force=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    server.loop_for_ever()
