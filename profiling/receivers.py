"""What the audit log hears of signing in, of second factors, and of the administration."""

from typing import Any

from allauth.account.signals import password_changed, password_reset, password_set
from allauth.mfa.signals import authenticator_added, authenticator_removed
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.db.models.signals import post_save
from django.dispatch import receiver

from profiling.services.audit import Action, audit

TOTP = "totp"


@receiver(user_logged_in)
def on_sign_in(sender: Any, user: User, **kwargs: Any) -> None:
    audit(Action.SIGN_IN, user=user)


@receiver(user_logged_out)
def on_sign_out(sender: Any, user: User | None, **kwargs: Any) -> None:
    if user is not None:
        audit(Action.SIGN_OUT, user=user)


@receiver(user_login_failed)
def on_failed_sign_in(sender: Any, credentials: dict[str, Any], **kwargs: Any) -> None:
    audit(Action.SIGN_IN_FAILED, str(credentials.get("username", "")))


@receiver([password_changed, password_reset, password_set])
def on_new_password(sender: Any, user: User, **kwargs: Any) -> None:
    audit(Action.PASSWORD, user=user)


@receiver(authenticator_added)
def on_second_factor(sender: Any, user: User, authenticator: Any, **kwargs: Any) -> None:
    if authenticator.type == TOTP:
        audit(Action.TWO_FACTOR_ON, user=user)


@receiver(authenticator_removed)
def on_second_factor_gone(sender: Any, user: User, authenticator: Any, **kwargs: Any) -> None:
    if authenticator.type == TOTP:
        audit(Action.TWO_FACTOR_OFF, user=user)


@receiver(post_save, sender=LogEntry)
def on_administration(sender: Any, instance: LogEntry, **kwargs: Any) -> None:
    kind = instance.content_type.model if instance.content_type else ""
    said = instance.get_change_message() or instance.get_action_flag_display()
    audit(Action.ADMIN, instance.object_repr, user=instance.user, kind=kind, said=said)
