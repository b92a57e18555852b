"""Loaded by pytest before the settings: tests keep their files, keys and messages out of the user's var/."""

import atexit
import os
import shutil
import tempfile

folder = tempfile.mkdtemp(prefix="jetsonlab-tests-")
os.environ["JETSONLAB_DATA"] = folder
os.mkdir(os.path.join(folder, "static"))  # whitenoise warns of a missing one at every client
os.environ.pop("BROKER_URL", None)
atexit.register(shutil.rmtree, folder, ignore_errors=True)
