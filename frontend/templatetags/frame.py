"""The sections of the site, in the bar at its top."""

from django import template
from django.urls import reverse

register = template.Library()
SECTIONS = (
    ("Plan", "plan"),
    ("Workloads", "workload-list"),
    ("Datasets", "dataset-list"),
    ("Runs", "run-list"),
    ("Sweeps", "sweep-list"),
    ("Devices", "device-list"),
    ("Predictors", "predictor-list"),
)


# Pages that belong to a section without being under its address.
ELSEWHERE = {
    "/plans/": "/plan/",
    "/uploads/": "/datasets/",
    "/published/": "/datasets/",
    "/new-dataset/": "/datasets/",
    "/compare/": "/runs/",
    "/device-models/": "/devices/",
    "/leaderboard/": "/predictors/",
    "/new-workload/": "/workloads/",
    "/new-device/": "/devices/",
    "/new-devices/": "/devices/",
}


@register.simple_tag(takes_context=True)
def sections(context: template.Context) -> list[tuple[str, str, bool]]:
    """Label, address, and whether the page shown belongs to it."""
    here = context["request"].path
    places = [(label, reverse(name)) for label, name in SECTIONS]
    own = next((section for start, section in ELSEWHERE.items() if here.startswith(start)), here)
    return [(label, address, own.startswith(address)) for label, address in places]
