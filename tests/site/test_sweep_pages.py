import pytest
from django.urls import reverse

from profiling.knobs import Knobs
from profiling.models import Device, Run, Sweep
from profiling.services.agents import run_claim, run_complete, run_fail, run_heartbeat
from profiling.services.sweeps import sweep_request

NEW = "/sweeps/new/"


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    monkeypatch.setattr("profiling.services.sweeps.wake_agent", lambda slug: None)


@pytest.fixture
def asked(board, resnet) -> dict:
    return {"device": board.slug, "workload": resnet.slug, "strategy": "stock", "aim": "all"}


@pytest.fixture
def sweep(board, resnet):
    top = board.device_model.maximum
    return sweep_request(device=board, workload=resnet, strategy="list", modes=[top, top._replace(cores=2)])


def address(sweep):
    return reverse("sweep-detail", args=[sweep.pk])


def page_of(browser, sweep, **headers):
    return browser.get(address(sweep), headers=headers).content.decode()


def test_a_sweep_is_started_from_the_page(browser, asked, eng):
    answer = browser.post(NEW, asked)
    sweep = Sweep.objects.get()
    assert answer.url == address(sweep)
    assert (sweep.runs.count(), sweep.requested_by) == (2, eng)


def test_a_viewer_may_not_start_one(client, vera, asked):
    client.force_login(vera)
    assert client.get(NEW).status_code == 403
    assert client.post(NEW, asked).status_code == 403


def test_the_expectation_is_shown_before_it_starts(browser, asked):
    page = browser.get(
        reverse("sweep-expected"), {**asked, "strategy": "random", "count": 7}
    ).content.decode()
    assert "<dd>7</dd>" in page
    assert "How long it takes is not known" in page
    assert not Sweep.objects.exists()


def test_an_address_fills_the_form_in(browser, asked):
    page = browser.get(NEW, {**asked, "count": 5}).content.decode()
    assert 'value="5"' in page
    assert "Reboots" in page


def test_listed_modes_are_typed_one_a_line(browser, asked, board):
    top = " ".join(map(str, board.device_model.maximum))
    browser.post(NEW, {**asked, "strategy": "list", "modes": f"{top}\n\n2, 268800, 318750, 665600"})
    assert sorted(run.cores for run in Run.objects.all()) == [2, 6]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"strategy": "list", "modes": "1 2 3\n4 5 6 7\nx 1 1 1"}, "Not four whole numbers in line 1, 3."),
        ({"strategy": "list", "modes": "3 1 1 1"}, "1 modes are not legal on this board."),
        ({"strategy": "active", "dvfs": "on"}, "Choose another strategy"),
        ({"aim": "power"}, "Give the budget"),
    ],
)
def test_what_is_wrong_stands_by_the_form(browser, asked, more, words):
    answer = browser.post(NEW, {**asked, **more})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Sweep.objects.exists()


def test_options_reach_the_sweep(browser, asked):
    browser.post(NEW, {**asked, "minibatches": "80", "passes": "apart", "baseload": "on"})
    options = Sweep.objects.get().options
    assert (options["rules"], options["baseload"]) == ({"minibatches": 80, "passes": "apart"}, True)


def test_the_run_in_hand_is_shown_live(browser, sweep, board):
    run = run_claim(device=board, agent="a")
    reading = {"total_mw": 23_456.0, "cpu_khz": [None, 2_201_600], "gpu_khz": 1_300_500}
    status = {"run": run.pk, "phase": "measuring", "minibatches": 17, "reading": reading}
    run_heartbeat(run=run, agent="a", status=status)
    page = page_of(browser, sweep, **{"HX-Request": "true"})
    assert "measuring, 17 minibatches" in page
    assert "23.5" in page
    assert "2,201.6" in page


def test_a_reading_of_another_run_is_not_shown_for_this_one(browser, sweep, board):
    run = run_claim(device=board, agent="a")
    Device.objects.update(status={"run": run.pk + 1, "phase": "measuring", "reading": {"total_mw": 1.0}})
    page = page_of(browser, sweep)
    assert "beginning" in page
    assert 'title="no reading yet"' in page


def test_the_log_tells_what_became_of_each_run(browser, sweep, board):
    run_complete(run=run_claim(device=board, agent="a"), measured={"time_ms": 118.0, "power_mw": 19_200.0})
    run_fail(run=run_claim(device=board, agent="a"), reason="the workload hung")
    page = page_of(browser, sweep)
    assert "118 ms, 19.2 W" in page
    assert "given back, to be tried again (attempt 1): the workload hung" in page


def test_a_complete_run_is_a_point_of_the_plot(browser, sweep, board):
    run = run_claim(device=board, agent="a")
    run_complete(run=run, measured={"time_ms": 118.0, "power_mw": 19_200.0, "flags": ["hot"]})
    clean, flagged = browser.get(address(sweep)).context["figure"]["data"]
    assert (clean["x"], flagged["x"], flagged["y"]) == ([], [19.2], [118.0])


def test_polling_ends_with_the_sweep(browser, sweep):
    assert 'hx-trigger="every 2s"' in page_of(browser, sweep)
    browser.post(reverse("sweep-cancel", args=[sweep.pk]))
    assert "hx-trigger" not in page_of(browser, sweep)


def test_cancelled_it_can_be_resumed(browser, sweep):
    browser.post(reverse("sweep-cancel", args=[sweep.pk]))
    assert ">Resume<" in page_of(browser, sweep)
    browser.post(reverse("sweep-resume", args=[sweep.pk]))
    sweep.refresh_from_db()
    assert sweep.state == Sweep.State.PENDING


def test_run_again_offers_the_same_modes(browser, sweep):
    Sweep.objects.update(state="done")
    query = browser.get(address(sweep)).context["again"]
    page = browser.get(f"{NEW}?{query}").content.decode()
    assert "6 2201600 1300500 3199000\n2 2201600 1300500 3199000" in page


def test_a_viewer_watches_without_buttons(client, vera, sweep):
    client.force_login(vera)
    page = page_of(client, sweep)
    assert "Cancel</button>" not in page
    assert client.post(reverse("sweep-cancel", args=[sweep.pk])).status_code == 403


def test_watching_costs_the_same_queries_for_any_number_of_runs(
    browser, board, resnet, django_assert_max_num_queries
):
    modes = [Knobs(*mode) for mode in board.device_model.all_modes().tolist()]
    sweep = sweep_request(device=board, workload=resnet, strategy="list", modes=modes)
    Run.objects.update(state=Run.State.COMPLETE, time_ms=1.0, power_mw=1.0)
    with django_assert_max_num_queries(12):
        page_of(browser, sweep, **{"HX-Request": "true"})
