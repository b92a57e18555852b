from allauth.account import views as allauth
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render

from profiling.services.mail import mail_is_configured


@login_not_required
def password_reset_page(request: HttpRequest) -> HttpResponse | HttpResponseBase:
    """Without a mail server, an administrator makes the link."""
    if not mail_is_configured():
        return render(request, "frontend/account/no_mail.html")
    return allauth.password_reset(request)
