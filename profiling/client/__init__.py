"""jetsonlab from a notebook or a script. No Django.

lab = Lab("https://lab.example")                # the token is JETSONLAB_TOKEN, or that of `jetsonlab login`
lab.upload("sweep.csv", workload="resnet", device_model="agx-orin")
for run in lab.runs(workload="resnet", power_mw__lte=20_000): ...
plan = lab.plan("resnet", "agx-orin", power_mw=20_000)
"""

from profiling.client.lab import Lab
from profiling.client.records import Plan, Predictor, Run, Upload, Workload
from profiling.client.wire import LabAway, LabRefused

__all__ = ["Lab", "LabAway", "LabRefused", "Plan", "Predictor", "Run", "Upload", "Workload"]
