import pytest

from profiling.models import Run, Sweep


@pytest.fixture
def asked(board, resnet) -> dict:
    return {"device": board.slug, "workload": resnet.slug}


def test_a_random_sweep_is_requested_in_one_call(api, asked):
    answer = api.post("/api/v1/sweeps/", {**asked, "strategy": "random", "count": 5, "seed": 3})
    assert answer.status_code == 201
    assert (answer.json()["runs_total"], answer.json()["state"]) == (5, "pending")


def test_stock_modes_with_unknown_values_are_left_out(api, asked):
    assert api.post("/api/v1/sweeps/", {**asked, "strategy": "stock"}).json()["runs_total"] == 2


@pytest.mark.parametrize("strategy", ["grid", "one_factor", "active"])
def test_every_strategy_gives_modes(api, asked, strategy):
    assert api.post("/api/v1/sweeps/", {**asked, "strategy": strategy}).json()["runs_total"] > 0


def test_listed_modes_must_be_legal(api, asked):
    mode = {"cores": 3, "cpu_khz": 1, "gpu_khz": 1, "mem_khz": 1}
    answer = api.post("/api/v1/sweeps/", {**asked, "strategy": "list", "modes": [mode]})
    assert answer.status_code == 400
    assert "cores 3 is not one of 2, 4, 6" in answer.json()["errors"][0]["reason"]


def test_modes_go_with_strategy_list_only(api, asked):
    assert api.post("/api/v1/sweeps/", {**asked, "strategy": "list"}).status_code == 400


def test_cancel_and_resume(api, asked):
    pk = api.post("/api/v1/sweeps/", {**asked, "strategy": "random", "count": 2}).json()["id"]
    assert api.post(f"/api/v1/sweeps/{pk}/cancel/").json()["state"] == "cancelled"
    assert api.post(f"/api/v1/sweeps/{pk}/cancel/").status_code == 409
    assert api.post(f"/api/v1/sweeps/{pk}/resume/").json()["state"] == "pending"
    assert Run.objects.filter(state="pending").count() == 2


def test_a_viewer_reads_but_does_not_request(client, vera, asked):
    client.force_login(vera)
    assert client.get("/api/v1/sweeps/").status_code == 200
    answer = client.post("/api/v1/sweeps/", {**asked, "strategy": "stock"}, content_type="application/json")
    assert answer.status_code == 403


def test_the_list_costs_the_same_queries_for_any_number(api, asked, django_assert_max_num_queries):
    for seed in range(3):
        api.post("/api/v1/sweeps/", {**asked, "strategy": "random", "count": 2, "seed": seed})
    with django_assert_max_num_queries(4):
        assert len(api.get("/api/v1/sweeps/").json()["results"]) == 3
    assert Sweep.objects.count() == 3
