"""An ordinary machine round the loop: registered, enrolled, swept over its cores with real PyTorch work."""

import json
import os

QUICK = {"minibatches": 20, "window_s": 0.3, "sample_period_s": 0.2, "settle_s": 0.3, "settle_limit_s": 1.0}
LENET = {"name": "LeNet-5 / digits", "kind": "training", "network": "LeNet-5", "minibatch": 16}


def test_a_real_training_is_swept_over_this_machines_cores(site):
    site.enrol_host()
    cores = len(os.sched_getaffinity(0))
    assert site.api("GET", "device-models/host-this-machine/")["cores"] == list(range(1, cores + 1))
    site.api("POST", "workloads/", **LENET, dataset="digits", runner_options={"data": "digits"})
    asked = {"device": "this-machine", "workload": "lenet-5-digits", "strategy": "one_factor"}
    pk = site.api("POST", "sweeps/", **asked, rules=QUICK)["id"]
    assert "ok    turning a knob" in site.agent("doctor")
    assert f"{cores} runs measured" in site.agent("run", "--once")
    runs = site.api("GET", f"runs/?sweep={pk}")["results"]
    assert sorted(run["cores"] for run in runs) == list(range(1, cores + 1))
    for run in runs:
        assert (run["state"], run["emulated"]) == ("complete", False), json.dumps(run)
        assert 0.1 < run["time_ms"] < 10_000
        assert (run["power_mw"] is None) == ("power_mw" in run["unknowns"])
        assert run["provenance"]["workload"]["threads"] == run["cores"]
