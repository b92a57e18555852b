import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from profiling.models import ApiToken, Device, DeviceModel, Run, Upload, Workload
from profiling.services.tokens import token_create

LISTS = ["apitoken", "device", "devicemodel", "run", "sweep", "upload", "workload"]


@pytest.fixture
def office(ada) -> Client:
    client = Client()
    client.force_login(ada)
    return client


@pytest.fixture
def a_few(orin, board, resnet, eng) -> None:
    Device.objects.create(slug="desk-2", name="Desk 2", device_model=orin, owner=eng)
    pair = {"workload": resnet, "device_model": orin}
    for name in "ab":
        upload = Upload.objects.create(filename=name, size=1, sha256=name, uploader=eng, state="done", **pair)
        Run.objects.create(upload=upload, device=board, minibatch=16, **pair)
        token_create(user=eng, name=name, scopes=["read"])


@pytest.mark.parametrize("noun", LISTS)
def test_every_list_opens_and_can_be_searched(office, a_few, noun):
    assert office.get(f"/admin/profiling/{noun}/").status_code == 200
    assert office.get(f"/admin/profiling/{noun}/", {"q": "e"}).status_code == 200


@pytest.mark.parametrize("noun", ["device", "run", "upload", "workload"])
def test_a_list_costs_few_queries_however_long(office, a_few, noun, django_assert_max_num_queries):
    with django_assert_max_num_queries(10):
        office.get(f"/admin/profiling/{noun}/")


@pytest.mark.parametrize("noun", ["run", "upload", "apitoken"])
def test_what_was_measured_is_looked_at_and_not_edited(office, a_few, noun):
    entry = {"run": Run, "upload": Upload, "apitoken": ApiToken}[noun].objects.first()
    assert office.get(f"/admin/profiling/{noun}/{entry.pk}/change/").status_code == 200
    assert office.post(f"/admin/profiling/{noun}/{entry.pk}/change/", {}).status_code == 403
    assert office.get(f"/admin/profiling/{noun}/add/").status_code == 403


def test_a_tokens_digest_is_shown_nowhere(office, a_few):
    token = ApiToken.objects.first()
    assert token.digest not in office.get(f"/admin/profiling/apitoken/{token.pk}/change/").content.decode()


def act(office: Client, noun: str, action: str, pks: list[int]) -> None:
    form = {"action": action, "_selected_action": pks}
    assert office.post(f"/admin/profiling/{noun}/", form).status_code == 302


def test_boards_are_retired_together_and_the_history_says_so(office, a_few):
    act(office, "device", "retire", list(Device.objects.values_list("pk", flat=True)))
    assert Device.objects.filter(retired=True).count() == 2
    assert LogEntry.objects.filter(change_message="Retired.").count() == 2


def test_tokens_are_revoked_together(office, a_few):
    act(office, "apitoken", "revoke", list(ApiToken.objects.values_list("pk", flat=True)))
    assert not ApiToken.objects.filter(revoked=None).exists()


def test_uploads_are_undone_and_refusals_are_told(office, a_few):
    pks = list(Upload.objects.values_list("pk", flat=True))
    act(office, "upload", "undo", pks)
    assert not Run.objects.exists()
    act(office, "upload", "undo", pks)
    assert b"is undone" in office.get("/admin/profiling/upload/").content


def test_a_measured_workload_keeps_its_meaning(office, a_few, resnet):
    form = office.get(f"/admin/profiling/workload/{resnet.pk}/change/").context["adminform"].form
    assert "notes" in form.fields
    assert not {"minibatch", "network", "slug"} & set(form.fields)
    assert "minibatch" in office.get("/admin/profiling/workload/add/").context["adminform"].form.fields


def test_new_clocks_bring_new_modes(office, orin):
    url = f"/admin/profiling/devicemodel/{orin.pk}/change/"
    form = office.get(url).context["adminform"].form
    values = {name: form[name].value() for name in form.fields}
    values = {name: "" if value is None else value for name, value in values.items()}
    assert office.post(url, values | {"cores": "[4, 2]"}).context["errors"]
    assert office.post(url, values | {"cores": "[2, 4, 6, 8]"}).status_code == 302
    assert DeviceModel.objects.get().power_modes.count() == 48


def test_workloads_are_edited_in_the_list(office, resnet):
    form = {"form-TOTAL_FORMS": 1, "form-INITIAL_FORMS": 1, "form-0-id": resnet.pk, "_save": "Save"}
    office.post("/admin/profiling/workload/", form | {"form-0-samples_per_epoch": 1281167})
    assert Workload.objects.get().samples_per_epoch == 1_281_167
