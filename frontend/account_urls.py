"""Signing in, passwords, two-factor and sessions: allauth's views at our addresses, under allauth's names."""

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as recovery
from allauth.mfa.totp import views as totp
from allauth.usersessions.views import list_usersessions
from django.urls import path, re_path

from frontend.views.account import password_reset_page

urlpatterns = [
    path("login/", account.login, name="account_login"),
    path("login/code/", mfa.authenticate, name="mfa_authenticate"),
    path("login/inactive/", account.account_inactive, name="account_inactive"),
    path("login/again/", account.reauthenticate, name="account_reauthenticate"),
    path("login/again/code/", mfa.reauthenticate, name="mfa_reauthenticate"),
    path("logout/", account.logout, name="account_logout"),
    path("password/", account.password_change, name="account_change_password"),
    path("password/set/", account.password_set, name="account_set_password"),
    path("password/reset/", password_reset_page, name="account_reset_password"),
    path("password/reset/sent/", account.password_reset_done, name="account_reset_password_done"),
    path(
        "password/reset/done/",
        account.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
    re_path(
        r"^password/reset/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        account.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path("two-factor/", mfa.index, name="mfa_index"),
    path("two-factor/app/", totp.activate_totp, name="mfa_activate_totp"),
    path("two-factor/app/off/", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path("two-factor/codes/", recovery.view_recovery_codes, name="mfa_view_recovery_codes"),
    path("two-factor/codes/new/", recovery.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path("two-factor/codes/file/", recovery.download_recovery_codes, name="mfa_download_recovery_codes"),
    path("sessions/", list_usersessions, name="usersessions_list"),
]
