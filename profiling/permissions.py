"""Roles for people, scopes for programs: both must allow a step.

A viewset says what its writes need: `write_role = "engineer"`, `write_scope = "upload"`.
"""

from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import AbstractUser, AnonymousUser
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from profiling.errors import Forbidden
from profiling.models import ApiToken

if TYPE_CHECKING:  # views import permissions
    from rest_framework.views import APIView

ROLE_RANK = {"viewer": 0, "engineer": 1, "admin": 2}


def role_of(user: AbstractUser | AnonymousUser) -> str | None:
    """The highest role of a person; None for strangers."""
    if not user.is_authenticated:
        return None
    if user.is_superuser:
        return "admin"
    names = {group.name for group in user.groups.all()} & ROLE_RANK.keys()
    return max(names, key=ROLE_RANK.__getitem__, default="viewer")


def has_role(user: AbstractUser | AnonymousUser, wanted: str) -> bool:
    role = role_of(user)
    return role is not None and ROLE_RANK[role] >= ROLE_RANK[wanted]


def check_role(user: AbstractUser | AnonymousUser, wanted: str) -> None:
    if not has_role(user, wanted):
        raise Forbidden(f"This step needs the role {wanted}. Ask an administrator for it.")


def strangers_may(role: str, reading: bool) -> bool:
    return settings.ANONYMOUS_READING and reading and role == "viewer"


class ScopePermission(BasePermission):
    def has_permission(self, request: Request, view: "APIView") -> bool:
        offered = hasattr(view, str(request.method).lower())
        reading = request.method in SAFE_METHODS or not offered  # what is not offered gets its 405
        role = getattr(view, *(("read_role", "viewer") if reading else ("write_role", "engineer")))
        scope = ApiToken.Scope.READ if reading else getattr(view, "write_scope", None)
        self.message = f"This needs the role {role}, and of a token the scope {scope}."
        if strangers_may(role, reading) and not request.user.is_authenticated:
            return True
        if not has_role(request.user, role):
            return False
        return not isinstance(request.auth, ApiToken) or scope in request.auth.scopes


class SessionOnly(BasePermission):
    message = "Tokens are made and revoked by a person who is signed in, not by a token."

    def has_permission(self, request: Request, view: "APIView") -> bool:
        return request.user.is_authenticated and request.auth is None
