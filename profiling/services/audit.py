"""Every service that changes something says so here: `audit(Action.UPLOAD_UNDO, upload, user=user)`."""

from ipaddress import ip_address
from typing import Any

from allauth.core import context
from celery import current_task
from django.contrib.auth.models import User
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model
from django.http import HttpRequest
from rest_framework.throttling import BaseThrottle

from profiling.models import ApiToken
from profiling.models.audit import AuditEntry

Action = AuditEntry.Action
Via = AuditEntry.Via
FACES = (("/api/v1/agent/", Via.AGENT), ("/api/", Via.API), ("/admin/", Via.ADMIN), ("/", Via.PAGE))


def audit(
    action: AuditEntry.Action, target: Model | str = "", *, user: User | None = None, **details: Any
) -> AuditEntry:
    """One line of the log. Who, by which key and from where is taken from the request being answered."""
    request: HttpRequest | None = context.request
    actor = user or signed_in(request)
    token = getattr(request, "auth", None)
    kind, key = (target._meta.model_name, target.pk) if isinstance(target, Model) else ("", "")
    return AuditEntry.objects.create(
        action=action,
        actor=actor,
        actor_name=actor.get_username() if actor else "",
        token=str(token)[:120] if isinstance(token, ApiToken) else "",
        via=via(request),
        address=client_address(request) if request else None,
        kind=kind or "",
        object_id=str(key),
        label=str(target)[:200],
        details={name: plain(value) for name, value in details.items() if value not in (None, "")},
    )


def signed_in(request: HttpRequest | None) -> User | None:
    """REST framework writes the person of a token into the same place."""
    user = getattr(request, "user", None)
    return user if isinstance(user, User) else None


def via(request: HttpRequest | None) -> Via:
    if request is None:
        return Via.WORKER if current_task else Via.COMMAND
    return next(face for start, face in FACES if request.path.startswith(start))


def client_address(request: HttpRequest) -> str | None:
    """Of the socket, or as told by as many proxies as TRUSTED_PROXIES says; None where that is no address."""
    told = BaseThrottle().get_ident(request) or ""  # type: ignore[arg-type]
    try:
        return str(ip_address(told))
    except ValueError:
        return None


def plain(value: Any) -> Any:
    """As JSON may hold it."""
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(each) for each in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value) if isinstance(value, Model) else DjangoJSONEncoder().default(value)
