from django.contrib import admin
from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

api_docs = SpectacularSwaggerSplitView.as_view(url_name="schema", template_name="frontend/api_docs.html")

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/v1/", include(("jetsonlab.api", "api"))),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", api_docs, name="api-docs"),
    path("", include("frontend.urls")),
]
