from django.contrib.auth.models import User
from django.db import transaction
from django.http import QueryDict

from profiling.errors import Forbidden
from profiling.models import SavedView
from profiling.services.checks import check_fields

PASSING = ("page", "csrfmiddlewaretoken")


@transaction.atomic
def saved_view_keep(*, user: User, page: str, name: str, query: str) -> SavedView:
    """The same name again replaces what it stood for. Empty choices and the page's number are not kept."""
    view = SavedView.objects.filter(user=user, page=page, name=name.strip()).first()
    view = view or SavedView(user=user, page=page, name=name.strip())
    view.query = _tidy(query)
    check_fields(view)
    view.save()
    return view


def saved_view_forget(*, view: SavedView, user: User) -> None:
    if view.user_id != user.pk:
        raise Forbidden(f"The view {view} is somebody else's.")
    view.delete()


def _tidy(query: str) -> str:
    kept = QueryDict(mutable=True)
    for name, values in QueryDict(query).lists():
        if name not in PASSING and any(values):
            kept.setlist(name, [value for value in values if value])
    return kept.urlencode(safe=",")
