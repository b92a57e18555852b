from django.conf import settings
from django.core.mail import send_mail

NOWHERE = "django.core.mail.backends.dummy.EmailBackend"


def mail_is_configured() -> bool:
    return settings.EMAIL_BACKEND != NOWHERE


def mail_send(*, to: str, subject: str, text: str) -> bool:
    """Whether it was handed to a mail server; without one nothing is sent."""
    return mail_is_configured() and bool(send_mail(f"jetsonlab: {subject}", text, None, [to]))
