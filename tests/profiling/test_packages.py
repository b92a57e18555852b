import hashlib

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from rest_framework.test import APIClient

from profiling.errors import Conflict, Forbidden, InvalidInput, NotFound, TooLarge
from profiling.knobs import Knobs
from profiling.models import Device, Run, WorkloadPackage
from profiling.receiving import received
from profiling.services.devices import device_token_create
from profiling.services.packages import package_for_device, package_receive
from profiling.services.sweeps import sweep_request
from tests.packages import zipped

FAST = Knobs(6, 2_201_600, 1_300_500, 3_199_000)
URL = "/api/v1/workloads/resnet/package/"


@pytest.fixture
def receive(resnet, eng):
    def call(content=None, name="mine.zip", user=eng):
        return package_receive(workload=resnet, file=received([content or zipped()], name), user=user)

    return call


@pytest.fixture
def agent(board, eng):
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {device_token_create(device=board, user=eng)[1]}")
    return client


def test_a_package_is_kept_with_what_is_known_of_it(receive, eng):
    package, new = receive()
    assert new
    assert (package.kind, package.files, package.uploader) == ("python", 1, eng)
    assert package.file.read() == zipped()
    assert package.sha256 == hashlib.sha256(zipped()).hexdigest()


def test_the_same_again_changes_nothing_and_another_replaces_it(receive, resnet):
    first, _ = receive()
    assert receive() == (first, False)
    second, new = receive(zipped(more="words"))
    assert new
    assert WorkloadPackage.objects.get(workload=resnet) == second


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"no zip", "mine.zip", "not a zip"),
        (zipped(name="../workload.py"), "mine.zip", "outside its folder"),
        (zipped(name="deep/workload.py"), "mine.zip", "at its top"),
        (b"\x08\x01", "net.onnx", "inference only"),
        (b"print()", "workload.py", "no workload"),
    ],
)
def test_what_a_board_should_not_run_is_not_kept(receive, content, name, said, settings):
    with pytest.raises(InvalidInput, match=said):
        receive(content, name)
    assert not WorkloadPackage.objects.exists()
    assert not list(settings.MEDIA_ROOT.glob("packages/**/*.*"))


def test_too_large_a_file_is_refused(receive, settings):
    settings.UPLOAD_MAX_BYTES = 10
    with pytest.raises(TooLarge, match="UPLOAD_MAX_MB"):
        receive()


def test_only_its_owner_or_an_administrator_sends_code(receive, vera, ada):
    with pytest.raises(Forbidden, match="engineer"):
        receive(user=vera)
    assert receive(user=ada)[1]


def test_what_was_measured_keeps_its_code(receive, resnet, orin):
    receive()
    Run.objects.create(workload=resnet, device_model=orin, minibatch=16)
    assert receive()[1] is False
    with pytest.raises(Conflict, match="Make a new workload"):
        receive(zipped(more="words"))


def test_a_program_sends_it_as_the_body_or_as_a_form(api, resnet):
    raw = {"content_type": "application/octet-stream"}
    assert api.put(f"{URL}?filename=mine.zip", zipped(), **raw).status_code == 201
    form = {"file": SimpleUploadedFile("mine.zip", zipped())}
    assert api.post(URL, form, format="multipart").status_code == 200
    assert api.get(URL).json()["kind"] == "python"
    assert api.get("/api/v1/workloads/resnet/").json()["package"]["filename"] == "mine.zip"


def test_bad_packages_and_strangers_get_their_answer(api, resnet, vera):
    bad = api.put(f"{URL}?filename=a.zip", b"no", content_type="application/octet-stream")
    assert (bad.status_code, bad.json()["code"]) == (400, "invalid_input")
    assert api.post(URL, {}, format="multipart").status_code == 400
    assert api.get(URL).status_code == 404
    viewer = APIClient()
    viewer.force_login(vera)
    assert viewer.put(URL, zipped(), content_type="application/zip").status_code == 403


def test_a_claim_brings_the_package_and_only_its_board_may_fetch_it(agent, receive, board, resnet, orin):
    package, _ = receive()
    url = f"/api/v1/agent/packages/{package.sha256}/"
    assert agent.get(url).status_code == 404
    sweep_request(device=board, workload=resnet, strategy="list", modes=[FAST])
    told = agent.post("/api/v1/agent/claim/", {"agent": "a1"}).json()["workload"]["package"]
    assert told == {"filename": "mine.zip", "sha256": package.sha256, "size": len(zipped())}
    assert b"".join(agent.get(url).streaming_content) == zipped()
    other = Device.objects.create(slug="desk-2", name="Desk 2", device_model=orin)
    with pytest.raises(NotFound):
        package_for_device(device=other, sha256=package.sha256)


def test_a_workload_without_a_package_says_so(agent, board, resnet, api):
    sweep_request(device=board, workload=resnet, strategy="list", modes=[FAST])
    assert agent.post("/api/v1/agent/claim/", {"agent": "a1"}).json()["workload"]["package"] is None
    assert api.get("/api/v1/workloads/").json()["results"][0]["package"] is None


def test_a_person_sends_it_on_the_workloads_page(browser, resnet, vera):
    file = SimpleUploadedFile("mine.zip", zipped())
    page = browser.post("/workloads/resnet/package/", {"file": file}, follow=True).content.decode()
    assert "mine.zip is kept." in page
    assert "zip with workload.py" in page
    assert browser.post("/workloads/resnet/package/").status_code == 400
    viewer = Client()
    viewer.force_login(vera)
    assert viewer.post("/workloads/resnet/package/", {"file": file}).status_code == 403
