from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.models import Group
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

# Roles, second factors and sessions are kept on pages of our own, which know what must not be done to them.
admin.site.unregister([EmailAddress, Authenticator, UserSession, Group])

api_docs = SpectacularSwaggerSplitView.as_view(url_name="schema", template_name="frontend/api_docs.html")

handler500 = "jetsonlab.problems.fault"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/v1/", include(("jetsonlab.api", "api"))),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", api_docs, name="api-docs"),
    path("", include("frontend.urls")),
]
