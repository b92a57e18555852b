import pytest
from django.test import Client
from django.urls import reverse

from profiling.models import Device, DeviceModel, Run, Upload, Workload
from profiling.services.sweeps import sweep_request

LISTS = (
    "home",
    "search",
    "workload-list",
    "dataset-list",
    "upload-list",
    "published-list",
    "run-list",
    "run-explore",
    "compare",
    "sweep-list",
    "device-list",
    "device-model-list",
)


@pytest.fixture
def run(resnet: Workload, orin: DeviceModel, board: Device) -> Run:
    return Run.objects.create(
        workload=resnet,
        device_model=orin,
        device=board,
        emulated=True,
        cores=2,
        cpu_khz=268_800,
        gpu_khz=318_750,
        mem_khz=665_600,
        minibatch=16,
        time_ms=118.25,
        unknowns={"power_mw": "no power sensor answered"},
    )


@pytest.mark.parametrize("name", LISTS)
def test_strangers_are_asked_to_sign_in(name, client, db):
    answer = client.get(reverse(name))
    assert answer.status_code == 302
    assert answer.url.startswith("/login/")


@pytest.mark.parametrize("name", LISTS)
def test_a_viewer_reads_every_list_while_it_is_empty(name, client, vera):
    client.force_login(vera)
    assert client.get(reverse(name)).status_code == 200


@pytest.mark.parametrize(
    "name", ["workload-list", "run-list", "sweep-list", "device-list", "dataset-list", "upload-list"]
)
def test_an_empty_list_says_what_it_is_for(name, browser):
    page = browser.get(reverse(name)).content.decode()
    assert '<div class="empty">' in page


def test_a_new_installation_is_shown_the_way(browser):
    assert "in three steps" in browser.get("/").content.decode()


def test_the_guide_goes_once_something_is_measured(browser, run):
    assert "in three steps" not in browser.get("/").content.decode()


def test_details_answer(browser, run, resnet, board, orin):
    for name, key in (
        ("workload-detail", resnet.slug),
        ("run-detail", run.pk),
        ("device-detail", board.slug),
        ("device-model-detail", orin.slug),
    ):
        assert browser.get(reverse(name, args=[key])).status_code == 200


def test_an_unknown_number_says_why(browser, run):
    page = browser.get(reverse("run-detail", args=[run.pk])).content.decode()
    assert 'title="no power sensor answered"' in page


def test_emulated_runs_are_labelled(browser, run):
    page = browser.get(reverse("run-list")).content.decode()
    assert '<span class="tag emulated">emulated</span>' in page


def test_runs_are_filtered_by_the_address(browser, run, resnet):
    found = browser.get(reverse("run-list"), {"workload": resnet.slug, "cores": 2}).context["browse"]
    assert found.items == [run]
    none = browser.get(reverse("run-list"), {"cores": 4})
    assert "No run matches these filters" in none.content.decode()


def test_unfinished_imports_are_not_shown(browser, run, eng):
    half = Upload.objects.create(filename="half.csv", size=1, sha256="b" * 64, uploader=eng, hidden=True)
    Run.objects.update(upload=half)
    assert browser.get(reverse("run-list")).context["browse"].items == []


def test_a_sweep_is_polled_while_it_runs(browser, board, resnet):
    sweep = sweep_request(device=board, workload=resnet, strategy="list", modes=[board.device_model.maximum])
    page = browser.get(reverse("sweep-detail", args=[sweep.pk])).content.decode()
    assert "0 of 1 runs" in page
    part = browser.get(reverse("sweep-detail", args=[sweep.pk]), headers={"HX-Request": "true"})
    assert part.content.decode().startswith('<div id="sweep-live"')


def test_search_finds_by_every_word(browser, resnet):
    found = browser.get("/search/", {"q": "resnet imagenet"}).context["found"]
    assert list(found["workloads"]) == [resnet]
    assert not browser.get("/search/", {"q": "resnet coco"}).context["found"]["workloads"]


def test_what_is_not_there_is_said_in_words(browser):
    answer = browser.get("/runs/4711/")
    assert answer.status_code == 404
    assert "There is nothing here" in answer.content.decode()


def test_htmx_gets_a_toast_instead_of_a_page(browser):
    answer = browser.get("/runs/4711/", headers={"HX-Request": "true"})
    assert answer.status_code == 404
    assert answer.content.decode().startswith('<div class="toast"')


def test_pages_forbid_inline_scripts_and_styles(browser, run):
    for path in ("/", reverse("run-list"), reverse("run-detail", args=[run.pk])):
        answer = browser.get(path)
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        page = answer.content.decode()
        assert " style=" not in page
        assert "onclick=" not in page


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("workload-list", 9),
        ("run-list", 12),
        ("device-list", 8),
        ("device-model-list", 5),
        ("dataset-list", 8),
    ],
)
def test_a_list_asks_the_database_a_fixed_number_of_times(
    name, most, browser, run, django_assert_max_num_queries
):
    for number in range(20):
        Run.objects.create(workload=run.workload, device_model=run.device_model, minibatch=number + 1)
        Workload.objects.create(
            name=f"w{number}", slug=f"w{number}", kind="training", network="n", minibatch=1
        )
        Device.objects.create(slug=f"b{number}", name=f"B{number}", device_model=run.device_model)
    with django_assert_max_num_queries(most):
        browser.get(reverse(name))


def test_a_wrong_password_is_told(db):
    answer = Client().post("/login/", {"username": "eng", "password": "wrong"})
    assert "do not belong together" in answer.content.decode()
