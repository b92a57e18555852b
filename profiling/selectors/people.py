from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from profiling.models import Invitation


def people_list() -> QuerySet[User]:
    """With `two_factor`, and `tokens`: how many keys of theirs work."""
    app = Authenticator.objects.filter(user=OuterRef("pk"), type=Authenticator.Type.TOTP)
    now = timezone.now()
    works = Q(api_tokens__revoked=None) & (Q(api_tokens__expires=None) | Q(api_tokens__expires__gt=now))
    people = User.objects.annotate(two_factor=Exists(app), tokens=Count("api_tokens", filter=works))
    return people.prefetch_related("groups").order_by("-is_active", "username")


def invitation_list() -> QuerySet[Invitation]:
    """Those that wait for somebody, the newest first."""
    waiting = Invitation.objects.filter(withdrawn=None, accepted=None, expires__gt=timezone.now())
    return waiting.select_related("inviter")
