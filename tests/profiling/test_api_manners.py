"""Conditional requests, and how the API says that a part of it will go."""

from datetime import UTC, datetime

import pytest
from django.urls import path
from drf_spectacular.generators import SchemaGenerator
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory
from rest_framework.views import APIView

from profiling.deprecation import deprecated
from profiling.models import Workload

SINCE, SUNSET = datetime(2027, 1, 1, tzinfo=UTC), datetime(2027, 7, 1, tzinfo=UTC)


@pytest.mark.parametrize("address", ["/api/v1/workloads/", "/api/v1/workloads/resnet/"])
def test_what_has_not_changed_is_not_sent_again(api, resnet, address):
    first = api.get(address)
    again = api.get(address, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    Workload.objects.update(network="another")
    changed = api.get(address, headers={"If-None-Match": first["ETag"]})
    assert changed.status_code == 200
    assert changed["ETag"] != first["ETag"]


def test_an_answer_may_be_kept_by_its_reader_alone(api, resnet):
    assert api.get("/api/v1/workloads/")["Cache-Control"] == "private, no-cache"


def test_problems_pages_and_streams_carry_no_tag(api, resnet, client):
    assert not api.get("/api/v1/workloads/nothing/").has_header("ETag")
    assert not api.get("/api/v1/runs/export/?format=csv").has_header("ETag")
    assert not client.get("/login/").has_header("ETag")


class OldView(APIView):
    permission_classes = ()

    @deprecated(since=SINCE, sunset=SUNSET, see="/api/docs/#new")
    def get(self, request) -> Response:
        """The old way."""
        return Response({})


def test_a_deprecated_step_says_so_in_its_headers():
    answer = OldView.as_view()(APIRequestFactory().get("/"))
    assert answer["Deprecation"] == "@1798761600"
    assert answer["Sunset"] == "Thu, 01 Jul 2027 00:00:00 GMT"
    assert answer["Link"] == '</api/docs/#new>; rel="deprecation"; type="text/html"'


def test_a_deprecated_step_says_so_in_the_schema():
    schema = SchemaGenerator(patterns=[path("api/v1/old/", OldView.as_view())]).get_schema(public=True)
    assert schema["paths"]["/api/v1/old/"]["get"]["deprecated"] is True
