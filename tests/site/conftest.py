"""The site's tests plan on the same boards of known formula as the tests of modeling."""

from tests.modeling.conftest import fit, measure, ready, sent, xavier, yolo

__all__ = ["fit", "measure", "ready", "sent", "xavier", "yolo"]
