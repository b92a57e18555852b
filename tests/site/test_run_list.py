"""The page of runs: facets, ranges, order, columns, words and kept views."""

import pytest
from django.urls import reverse

from profiling.models import Run, SavedView

URL = "/runs/"


@pytest.fixture
def runs(resnet, orin, board):
    about = {"workload": resnet, "device_model": orin, "cpu_khz": 268_800, "mem_khz": 665_600}
    return [
        Run.objects.create(**about, minibatch=16, cores=cores, time_ms=time_ms, flags=flags)
        for cores, time_ms, flags in ((2, 100.0, ["hot"]), (4, None, []), (6, 60.0, []))
    ]


def listed(browser, **asked):
    answer = browser.get(URL, asked)
    assert answer.status_code == 200
    return answer.context["browse"].items


def test_any_filter_of_the_api_works_on_the_page(browser, runs):
    assert listed(browser, cores__gte=4) == [runs[2], runs[1]]
    assert listed(browser, flag="hot") == [runs[0]]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("", [2, 1, 0]),
        ("id", [0, 1, 2]),
        ("time_ms", [2, 0, 1]),
        ("-time_ms", [0, 2, 1]),
        ("spam", [2, 1, 0]),
    ],
)
def test_a_column_orders_the_list_and_unknowns_come_last(browser, runs, sort, order):
    assert listed(browser, sort=sort) == [runs[place] for place in order]


def test_the_head_of_the_ordered_column_turns_it_round(browser, runs):
    page = browser.get(URL, {"sort": "time_ms", "cores__gte": "2", "page": "1"}).content.decode()
    assert 'aria-sort="ascending"><a class="sort" href="?cores__gte=2&amp;sort=-time_ms"' in page


def test_columns_are_those_of_the_address(browser, runs):
    shown = browser.get(URL, {"columns": ["cores", "file"]}).context["browse"].shown
    assert [column.name for column in shown] == ["id", "cores", "file"]


@pytest.mark.parametrize(("words", "count"), [("resnet", 3), ("RESNET mini", 3), ("bert", 0), ("desk", 0)])
def test_words_are_looked_for_in_workload_board_and_file(browser, runs, words, count):
    assert len(listed(browser, search=words)) == count


def test_a_number_finds_its_run(browser, runs):
    assert listed(browser, search=str(runs[1].pk)) == [runs[1]]


def test_counts_come_after_the_page_and_say_what_each_choice_leaves(browser, runs):
    assert "counting" in browser.get(URL).content.decode()
    part = browser.get("/runs/facets/", {"cores__gte": 4}, headers={"HX-Request": "true"}).content.decode()
    assert "2 runs" in part
    assert "ResNet-18 / ImageNet (2)" in part
    assert "268800 to 2201600" in part
    assert "hot" not in part


def test_without_scripts_counts_come_with_the_page(browser, runs):
    assert "3 runs" in browser.get(URL, {"counts": 1}).content.decode()


def test_a_range_in_force_is_shown_with_the_way_out(browser, runs):
    page = browser.get(URL, {"power_mw__lte": 9000, "flag": "hot"}).content.decode()
    assert 'href="?flag=hot" aria-label="Take away Power, mW ≤ 9000"' in page


def test_several_values_of_a_facet_are_ored(browser, runs):
    Run.objects.filter(pk=runs[1].pk).update(flags=["short"])
    assert listed(browser, flag=["hot", "short"]) == [runs[1], runs[0]]
    assert listed(browser, flag=["hot", "short"], cores=2) == [runs[0]]


def test_chosen_values_are_ticked_and_each_has_a_way_out(browser, runs):
    Run.objects.filter(pk=runs[1].pk).update(flags=["short"])
    asked = {"flag": ["hot", "short"], "cores__gte": "2", "counts": "1"}
    page = browser.get(URL, asked).content.decode()
    assert 'name="flag" value="hot" checked> <span>hot (1)</span>' in page
    assert 'name="flag" value="short" checked> <span>short (1)</span>' in page
    assert "2 runs" in page
    assert (
        'href="?cores__gte=2&amp;counts=1&amp;flag=short" aria-label="Take away Kind of flag = hot"' in page
    )


def test_of_a_facet_only_the_value_there_is_not_is_left_out(browser, runs):
    answer = browser.get(URL, {"flag": ["hot", "warm"], "counts": 1})
    assert answer.status_code == 400
    assert answer.context["browse"].items == [runs[0]]
    page = answer.content.decode()
    assert "Kind of flag: Select a valid choice. warm is none of: throttled" in page
    assert "1 run<" in page


@pytest.mark.parametrize("url", [URL, "/runs/explore/"])
@pytest.mark.parametrize(("name", "label"), [("flagged", "Flags"), ("emulated", "Source")])
def test_a_truth_that_is_none_is_told_kindly(browser, runs, url, name, label):
    answer = browser.get(url, {name: "maybe"})
    assert answer.status_code == 400
    assert f"{label}: Select a valid choice. maybe is none of: true, false." in answer.content.decode()


def test_a_view_an_export_and_the_lines_to_copy_keep_every_value(browser, runs):
    exports = browser.get(URL, {"flag": ["hot", "short"]}).context["exports"]
    assert "export/?flag=hot&flag=short&format=csv" in exports["curl"]
    assert "lab.runs(flag=['hot', 'short'])" in exports["python"]
    query = {"page": "run-list", "name": "Two", "query": "flag=hot&flag=short"}
    assert browser.post(reverse("saved-view-save"), query).url == "/runs/?flag=hot&flag=short"


def test_what_is_no_filter_value_is_said_and_left_out(browser, runs):
    answer = browser.get(URL, {"cores": "many"})
    assert answer.status_code == 400
    assert "Cores: Enter a number. Left out." in answer.content.decode()
    assert len(answer.context["browse"].items) == 3


def test_what_is_exported_is_what_is_filtered(browser, runs):
    files = dict(
        browser.get(URL, {"cores__gte": 4, "sort": "cores", "columns": "cores"}).context["exports"]["files"]
    )
    assert files["csv"] == "/api/v1/runs/export/?cores__gte=4&format=csv"


@pytest.mark.parametrize("number", ["0", "-1", "x", "²", "٣", "99", "9" * 15, "9" * 30])
def test_a_page_that_is_not_there_shows_the_nearest_that_is(browser, runs, number):
    assert len(listed(browser, page=number)) == 3


def test_a_view_is_kept_shown_and_taken_away(browser, runs, eng, client, vera):
    query = {"page": "run-list", "name": "Hot", "query": "flag=hot&sort=-time_ms&page=3"}
    kept = browser.post(reverse("saved-view-save"), query)
    assert kept.url == "/runs/?flag=hot&sort=-time_ms"
    assert "/runs/?flag=hot&amp;sort=-time_ms" in browser.get(URL).content.decode()
    client.force_login(vera)
    view = SavedView.objects.get()
    assert client.post(reverse("saved-view-delete", args=[view.pk])).status_code == 403
    assert browser.post(reverse("saved-view-delete", args=[view.pk])).status_code == 302
    assert not SavedView.objects.exists()


@pytest.fixture
def night(runs):
    """The first run came in late in the evening of 9 March in UTC, when Tokyo had the morning of the 10th."""
    Run.objects.filter(pk=runs[0].pk).update(created="2026-03-09T23:30:00Z")
    return runs[0]


@pytest.mark.parametrize(("zone", "day"), [("UTC", "2026-03-09"), ("Asia/Tokyo", "2026-03-10")])
def test_a_day_is_a_whole_day_of_the_readers_zone(browser, night, zone, day):
    browser.cookies["timezone"] = zone
    assert listed(browser, created__gte=day, created__lte=day) == [night]
    assert night not in listed(browser, created__gte="2026-03-11")


def test_a_moment_is_a_moment(browser, night):
    assert listed(browser, created__lte="2026-03-09T23:00:00Z") == []
    page = browser.get(URL, {"created__lte": "2026-03-10T00:00:00Z"}).content.decode()
    assert 'type="text" name="created__lte" value="2026-03-10T00:00:00Z"' in page


def test_what_is_copied_means_the_same_day_in_another_zone(browser, night):
    browser.cookies["timezone"] = "Asia/Tokyo"
    asked = {"created__gte": "2026-03-10", "created__lte": "2026-03-10"}
    query = browser.get(URL, asked).context["exports"]["query"]
    browser.cookies["timezone"] = "America/New_York"
    assert browser.get(f"{URL}?{query}").context["browse"].items == [night]


@pytest.mark.parametrize(("zone", "end"), [("Asia/Tokyo", "0001-01-01"), ("America/New_York", "9999-12-31")])
@pytest.mark.parametrize("url", [URL, "/api/v1/runs/", "/runs/explore/"])
def test_the_ends_of_the_calendar_are_no_error(browser, night, zone, end, url):
    browser.cookies["timezone"] = zone
    assert browser.get(url, {"created__gte": end}).status_code in (200, 400)
    assert browser.get(url, {"measured_at__lte": end}).status_code in (200, 400)
