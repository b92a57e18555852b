import pytest

from profiling.models import Device, Run, Workload

NEW = {
    "name": "YOLO v8 / COCO",
    "kind": "training",
    "network": "YOLOv8-n",
    "dataset": "COCO",
    "minibatch": 16,
}


def test_device_models_tell_their_legal_knobs(api, orin):
    (shown,) = api.get("/api/v1/device-models/").json()["results"]
    assert (shown["slug"], shown["mode_count"], shown["cores"]) == ("orin-mini", 36, [2, 4, 6])
    assert api.get("/api/v1/device-models/orin-mini/").json() == shown


def test_power_modes_come_in_pages_in_the_order_of_their_rank(api, orin, django_assert_num_queries):
    url, ranks = "/api/v1/device-models/orin-mini/power-modes/?page_size=20", []
    with django_assert_num_queries(2 * 4 + 3):  # token, role, board, modes; once last_used, in a savepoint
        while url:
            page = api.get(url).json()
            ranks += [mode["rank"] for mode in page["results"]]
            url = page["next"]
    assert ranks == list(range(36))


def test_power_modes_of_no_board_are_not_found(api, db):
    assert api.get("/api/v1/device-models/none/power-modes/").status_code == 404


@pytest.mark.parametrize("url", ["/api/v1/device-models/", "/api/v1/devices/", "/api/v1/workloads/"])
def test_a_list_costs_three_queries(api, board, resnet, url, django_assert_num_queries):
    Device.objects.create(slug="desk-2", name="Desk 2", device_model=board.device_model)
    api.get(url)
    with django_assert_num_queries(3):
        assert api.get(url).json()["results"]


@pytest.mark.parametrize(
    ("noun", "asked", "count"),
    [
        ("workloads", {"kind": ["training", "inference"], "network": ["BERT", "ResNet-18"]}, 1),
        ("workloads", {"minibatch": [16, 32], "owner": "eng", "search": "resnet imagenet"}, 1),
        ("workloads", {"network": "BERT"}, 0),
        ("devices", {"device_model": "orin-mini", "driver": ["emulated", "host"], "retired": "0"}, 1),
        ("devices", {"retired": ["true", "false"], "search": "desk"}, 1),
        ("devices", {"location": ["shelf", "rack"]}, 0),
        ("datasets", {"licence": ["MIT", "CC0-1.0"], "search": "nothing"}, 0),
    ],
)
def test_lists_take_several_values_of_a_facet(api, board, resnet, noun, asked, count):
    assert len(api.get(f"/api/v1/{noun}/", asked).json()["results"]) == count


@pytest.mark.parametrize(
    ("noun", "asked", "said"),
    [
        ("devices", {"retired": "zzz"}, "zzz is none of: true, false."),
        ("devices", {"device_model": ["orin-mini", "thor"]}, "thor is not one of the available choices."),
        ("workloads", {"minibatch": "many"}, "Enter a whole number."),
        ("workloads", {"kind": "sleep"}, "sleep is none of: training, inference."),
        ("uploads", {"emulated": "maybe"}, "maybe is neither true nor false."),
        ("predictors", {"emulated": "maybe"}, "maybe is neither true nor false."),
    ],
)
def test_what_a_filter_does_not_understand_is_named(api, board, noun, asked, said):
    answer = api.get(f"/api/v1/{noun}/", asked)
    assert answer.status_code == 400
    assert said in answer.json()["errors"][next(iter(asked))][0]


def test_devices_are_filtered_and_registered_but_not_changed(api, board):
    assert len(api.get("/api/v1/devices/", {"device_model": "orin-mini"}).json()["results"]) == 1
    assert api.get("/api/v1/devices/", {"retired": True}).json()["results"] == []
    assert "name" in api.post("/api/v1/devices/", {}).json()["errors"]
    assert api.patch("/api/v1/devices/desk-1/", {}).status_code == 405


def test_a_workload_is_created(api, eng):
    answer = api.post("/api/v1/workloads/", NEW)
    assert answer.status_code == 201, answer.json()
    assert answer.json() | {"slug": "yolo-v8-coco", "owner": "eng"} == answer.json()


def test_every_bad_field_of_a_workload_is_named(api):
    answer = api.post("/api/v1/workloads/", {"name": "", "kind": "sleeping", "network": "x", "minibatch": -1})
    assert set(answer.json()["errors"]) == {"name", "kind", "minibatch"}


def test_a_name_is_taken_once(api, resnet):
    answer = api.post("/api/v1/workloads/", NEW | {"name": resnet.name})
    assert (answer.status_code, set(answer.json()["errors"])) == (400, {"name"})


def test_a_workload_is_described_further(api, resnet):
    answer = api.patch("/api/v1/workloads/resnet/", {"notes": "from torchvision"})
    assert answer.json()["notes"] == "from torchvision"


def test_what_was_measured_does_not_change(api, resnet, orin):
    Run.objects.create(workload=resnet, device_model=orin, minibatch=16)
    answer = api.patch("/api/v1/workloads/resnet/", {"minibatch": 32})
    assert (answer.status_code, Workload.objects.get().minibatch) == (409, 16)
    assert api.patch("/api/v1/workloads/resnet/", {"precision": "fp32"}).status_code == 200
