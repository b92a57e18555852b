"""What a list does with an address it does not wholly understand."""

import pytest

from profiling.models import Device, Run, Workload

LISTS = ("/runs/", "/runs/explore/", "/compare/", "/workloads/", "/devices/", "/datasets/")


def page(browser, url, status=200, **asked):
    answer = browser.get(url, asked)
    assert answer.status_code == status
    return answer.content.decode()


@pytest.mark.parametrize("url", LISTS)
def test_a_filter_that_does_not_exist_is_named(browser, resnet, url):
    assert "There is no filter “wrkload” here. Left out." in page(browser, url, wrkload="yolo")


@pytest.mark.parametrize("url", ["/runs/", "/workloads/", "/devices/", "/datasets/"])
def test_an_order_and_a_column_that_do_not_exist_are_named(browser, resnet, url):
    said = page(browser, url, sort="-shoe_size", columns=["owner", "wings"])
    assert "There is no order “-shoe_size” here." in said
    assert "There is no column “wings” here." in said


def test_what_the_tab_explore_asks_passes_through_the_list(browser, resnet):
    asked = {"x": "cores", "y": "gpu_khz", "value": "power_mw", "of": "max", "search": "a", "page": 1}
    assert "There is no" not in page(browser, "/runs/", **asked)


def test_a_page_past_the_end_does_not_say_that_there_is_nothing(browser, board):
    assert board.name in page(browser, "/devices/", page=999)


def test_a_choice_that_no_row_has_is_shown_as_chosen(browser, board):
    said = page(browser, "/devices/", owner="nobody-we-know")
    assert 'value="nobody-we-know" checked> <span>nobody-we-know (0)</span>' in said
    assert "No board matches" in said


@pytest.mark.parametrize(
    ("url", "asked", "said"),
    [
        (
            "/workloads/",
            {"kind": "spam"},
            "Kind: Select a valid choice. spam is none of: training, inference.",
        ),
        ("/devices/", {"retired": "zzz"}, "Retired: Select a valid choice. zzz is none of: true, false."),
        (
            "/devices/",
            {"device_model": ["orin-mini", "thor"]},
            "Device model: Select a valid choice. thor is",
        ),
        ("/workloads/", {"minibatch": "many"}, "Minibatch: Enter a whole number. Left out."),
    ],
)
def test_a_value_there_is_not_is_told_and_left_out_alone(browser, board, resnet, url, asked, said):
    told = page(browser, url, status=400, **asked)
    assert said in told
    assert "1 found" in told


def test_a_list_says_how_many_it_found(browser, board, resnet):
    assert "1 found" in page(browser, "/devices/")
    assert "0 found" in page(browser, "/workloads/", search="bert")


def test_a_list_of_two_pages_counts_both(browser, orin):
    Device.objects.bulk_create(Device(slug=f"d{n}", name=f"D{n}", device_model=orin) for n in range(51))
    assert "51 found" in page(browser, "/devices/")


@pytest.mark.parametrize(("sort", "order"), [("location", "ab-"), ("-location", "ba-")])
def test_what_is_blank_comes_last_either_way_round(browser, orin, sort, order):
    for slug in ("-", "b", "a"):
        Device.objects.create(slug=slug, name=slug, device_model=orin, location=slug.strip("-"))
    assert (
        "".join(each.slug for each in browser.get("/devices/", {"sort": sort}).context["browse"].items)
        == order
    )


def test_sizes_are_chosen_from_the_smallest_to_the_largest(browser, eng):
    for size in (4, 16, 1):
        Workload.objects.create(
            slug=f"w{size}", name=f"W{size}", kind="training", network="N", minibatch=size
        )
    facets = {facet.name: facet for facet in browser.get("/workloads/").context["facets"]}
    assert [value for value, _, _ in facets["minibatch"].options] == ["1", "4", "16"]


@pytest.mark.parametrize("url", ["/workloads/", "/devices/", "/datasets/"])
def test_a_nul_is_looked_for_in_vain_on_any_database(browser, resnet, url):
    assert page(browser, url, search="\0")
    assert page(browser, "/search/", q="\0") is not None


@pytest.mark.parametrize("asked", [{"flagged": "maybe"}, {"kind": "spam"}, {"workload": "spam"}])
def test_what_is_left_out_of_the_list_is_left_out_of_its_counts(browser, resnet, orin, asked):
    Run.objects.create(workload=resnet, device_model=orin, minibatch=16, time_ms=1.0)
    assert "Left out." in page(browser, "/runs/", status=400, **asked)
    part = browser.get("/runs/facets/", asked, headers={"HX-Request": "true"}).content.decode()
    assert "1 run<" in part


def test_a_comparison_names_the_subjects_it_does_not_know(browser, resnet, orin):
    Run.objects.create(workload=resnet, device_model=orin, minibatch=16, time_ms=1.0, power_mw=1.0)
    assert "Nothing is known of bert~orin-mini~16~measured" in page(
        browser, "/compare/", of=["bert~orin-mini~16~measured", "resnet~orin-mini~16~measured"]
    )
