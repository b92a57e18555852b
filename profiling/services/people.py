from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.contrib.auth.models import Group, User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.urls import reverse

from profiling.errors import InvalidInput
from profiling.services.catalog import ROLES
from profiling.services.checks import check_fields


@transaction.atomic
def person_create(*, name: str, password: str, role: str, email: str = "") -> User:
    """A person of one role; administrators may use the admin pages."""
    if role not in ROLES:
        raise InvalidInput(f"A role is one of {', '.join(ROLES)}, not {role!r}.")
    admin = role == "admin"
    user = User(username=name, email=email, is_staff=admin, is_superuser=admin)
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise InvalidInput(" ".join(error.messages), errors={"password": error.messages}) from error
    user.set_password(password)
    check_fields(user)
    user.save()
    user.groups.add(Group.objects.get_or_create(name=role)[0])
    return user


def reset_address(*, user: User) -> str:
    """Where the person chooses a new password: works once, for a day."""
    key = default_token_generator.make_token(user)
    return reverse("account_reset_password_from_key", args=[user_pk_to_url_str(user), key])
