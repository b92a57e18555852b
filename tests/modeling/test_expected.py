import pytest

from modeling.selectors.expected import estimate_of
from modeling.services.plans import plan_make
from profiling.asking import SweepQuestion
from profiling.errors import InvalidInput

ADDRESS = "/api/v1/sweeps/estimate/"


@pytest.fixture
def ask(emulator, resnet):
    def question(**asked) -> SweepQuestion:
        return SweepQuestion(device=emulator, workload=resnet, **{"strategy": "stock", **asked})

    return question


def test_without_a_measurement_only_the_least_is_known(ask):
    told = estimate_of(ask())
    assert (told.runs, told.core_switches, told.unknown_times) == (2, 1, 2)
    assert told.seconds is None
    # two starts of 20 s, and for each mode 2 s to settle and 10 power samples half a second apart
    assert told.least_s == pytest.approx(2 * 20 + 2 * (2 + 5))


def test_a_measured_mode_is_counted_as_measured(ask, resnet, measure, orin):
    measure(resnet, [orin.mode_count - 1])
    told = estimate_of(ask(strategy="list", modes=[orin.maximum]))
    assert told.unknown_times == 0
    assert told.seconds > told.least_s * 0.99


def test_a_predictor_knows_every_mode(ask, ready):
    told = estimate_of(ask(strategy="grid"))
    assert told.unknown_times == 0
    assert told.seconds == told.least_s


def test_an_active_sweep_is_estimated_by_random_modes(ask, ready):
    assert estimate_of(ask(strategy="active", count=12)).runs == 12


def test_more_minibatches_take_longer(ask, ready):
    longer = estimate_of(ask(rules={"minibatches": 4000}))
    assert longer.seconds > 5 * estimate_of(ask()).seconds


def test_a_baseload_starts_no_workload(ask):
    assert estimate_of(ask(baseload=True)).seconds == pytest.approx(2 * (2 + 5))


def test_dvfs_is_one_run(ask):
    assert estimate_of(ask(strategy="grid", dvfs=True)).runs == 1


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"rules": {"minibatches": 0.5}}, "minibatches 0.5"),
        ({"strategy": "active", "dvfs": True}, "Choose another strategy"),
        ({"strategy": "list"}, "needs modes"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_it_starts(ask, asked, words):
    with pytest.raises(InvalidInput, match=words):
        ask(**asked)


def test_the_api_tells_it_and_starts_nothing(api, emulator, resnet):
    asked = {"device": emulator.slug, "workload": resnet.slug, "strategy": "random", "count": 4}
    told = api.post(ADDRESS, asked).json()
    assert (told["runs"], told["seconds"], told["reboots"]) == (4, None, 0)
    assert api.get("/api/v1/sweeps/").json()["results"] == []


def test_the_api_keeps_the_options(api, emulator, resnet):
    asked = {"device": emulator.slug, "workload": resnet.slug, "strategy": "stock", "baseload": True}
    answer = api.post("/api/v1/sweeps/", {**asked, "rules": {"minibatches": 80}})
    assert answer.json()["options"]["rules"] == {"minibatches": 80}
    assert answer.json()["options"]["baseload"] is True


def test_the_api_names_a_wrong_rule(api, emulator, resnet):
    asked = {"device": emulator.slug, "workload": resnet.slug, "strategy": "stock"}
    answer = api.post("/api/v1/sweeps/", {**asked, "rules": {"patience": 1}})
    assert answer.status_code == 400
    assert "patience 1" in answer.json()["detail"]


def test_a_power_budget_goes_with_aim_power_only(api, emulator, resnet):
    asked = {"device": emulator.slug, "workload": resnet.slug, "strategy": "active", "aim_power_mw": 20_000}
    assert api.post("/api/v1/sweeps/", asked).status_code == 400
    assert api.post("/api/v1/sweeps/", {**asked, "aim": "power"}).json()["options"]["aim"] == 20_000


def test_a_predictor_says_what_ten_more_modes_would_bring(ask, resnet, measure, fit, orin):
    measure(resnet, range(0, 36, 4))
    ahead = fit(method="roofline").card["outlook"]
    assert ahead["modes"] == 10
    assert 0 < ahead["minutes"] < 10
    assert ahead["said"].startswith("10 more modes: about")
    assert plan_make(workload=resnet, device_model=orin).provenance.outlook == ahead


def test_a_method_that_cannot_tell_promises_nothing(ready):
    assert ready.card["outlook"] is None
