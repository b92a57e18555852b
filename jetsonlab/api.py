"""Every noun of /api/v1/ in one list."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

router = SimpleRouter()

urlpatterns = [path("", include(router.urls))]
