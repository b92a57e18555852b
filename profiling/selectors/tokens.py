from django.contrib.auth.models import User
from django.db.models import QuerySet

from profiling.models import ApiToken
from profiling.permissions import has_role


def token_list(user: User) -> QuerySet[ApiToken]:
    """A person's own; everybody's for an administrator."""
    tokens = ApiToken.objects.select_related("user", "device").order_by("-created")
    return tokens if has_role(user, "admin") else tokens.filter(user=user)
