"""The site's own worker killed -9 in mid-work: a real worker process, followed by another one."""

import httpx

from tests.waiting import wait_until

CPU, GPU, MEMORY = [806_400, 1_113_600, 1_510_400], [306_000, 612_000], [665_600, 2_133_000]
MODES = [(cores, cpu, gpu, mem) for cores in range(1, 7) for cpu in CPU for gpu in GPU for mem in MEMORY]
HEADER = "cores,cpu_khz,gpu_khz,mem_khz,minibatch,time_ms,power_w"
LATER = """
from datetime import timedelta
from modeling.models import Predictor
from profiling.models import Upload
long_ago = {now} - timedelta(hours=1)
Upload.objects.exclude(worked_until=None).update(worked_until=long_ago)
Predictor.objects.exclude(heartbeat=None).update(heartbeat=long_ago)
""".format(now="__import__('django.utils.timezone').utils.timezone.now()")


def table_of(minibatches):
    """A CSV with a line for every mode and minibatch size, and how many lines."""
    lines = [(*mode, size, 1000 / mode[0] + size, 5 + mode[0]) for size in minibatches for mode in MODES]
    return "\n".join([HEADER, *(",".join(map(str, line)) for line in lines)]).encode(), len(lines)


def send(site, content):
    answer = httpx.post(
        f"{site.url}/api/v1/uploads/",
        files={"file": ("table.csv", content)},
        data={"workload": "resnet", "device_model": "orin-nano-8gb"},
        headers={"Authorization": f"Bearer {site.tokens['person']}"},
        timeout=60,
    )
    assert answer.status_code == 201, answer.text
    return f"uploads/{answer.json()['id']}/"


def kill_in(site, worker, path, *states):
    wait_until(lambda: site.api("GET", path)["state"] in states)
    site.kill(worker)
    assert site.api("GET", path)["state"] in states
    site.manage("shell", "-v0", "-c", LATER)  # the dead worker's lease runs out


def test_an_import_whose_worker_is_killed_is_taken_up_again_with_nothing_half_in(site):
    content, count = table_of(range(1, 1001))  # enough to be caught at it
    path = send(site, content)
    kill_in(site, site.start_worker(), path, "reading", "importing")
    assert site.api("GET", "runs/facets/")["count"] == 0
    site.start_worker()
    wait_until(lambda: site.api("GET", path)["state"] == "done")
    assert site.api("GET", path)["rows_imported"] == site.api("GET", "runs/facets/")["count"] == count


def test_a_fit_whose_worker_is_killed_is_fitted_by_the_next(site):
    path = send(site, table_of([16])[0])
    worker = site.start_worker()
    wait_until(lambda: site.api("GET", path)["state"] == "done")
    asked = {"workload": "resnet", "device_model": "orin-nano-8gb", "method": "roofline"}
    predictor = f"predictors/{site.api('POST', 'predictors/', **asked)['id']}/"
    kill_in(site, worker, predictor, "fitting")
    site.start_worker()
    wait_until(lambda: site.api("GET", predictor)["state"] == "ready")
