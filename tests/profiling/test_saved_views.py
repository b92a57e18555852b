import pytest

from profiling.errors import Forbidden, InvalidInput
from profiling.models import SavedView
from profiling.services.saved_views import saved_view_forget, saved_view_keep


def test_a_view_keeps_what_was_chosen_and_not_the_page_number(eng):
    view = saved_view_keep(
        user=eng, page="run-list", name=" Hot runs ", query="flag=hot&device=&page=7&columns=a&columns=b"
    )
    assert (view.name, view.query) == ("Hot runs", "flag=hot&columns=a&columns=b")


def test_the_same_name_again_replaces_it(eng):
    for query in ("flag=hot", "flag=short"):
        saved_view_keep(user=eng, page="run-list", name="Flagged", query=query)
    assert [view.query for view in SavedView.objects.all()] == ["flag=short"]


@pytest.mark.parametrize(
    "wrong", [{"name": " "}, {"page": "admin:index"}, {"name": "n" * 61}, {"query": f"search={'x' * 2000}"}]
)
def test_a_view_that_cannot_be_is_refused(eng, wrong):
    with pytest.raises(InvalidInput):
        saved_view_keep(**{"user": eng, "page": "run-list", "name": "n", "query": "", **wrong})


def test_nobody_takes_away_the_view_of_another(eng, ada):
    view = saved_view_keep(user=eng, page="run-list", name="Mine", query="")
    with pytest.raises(Forbidden):
        saved_view_forget(view=view, user=ada)
    saved_view_forget(view=view, user=eng)
    assert not SavedView.objects.exists()
