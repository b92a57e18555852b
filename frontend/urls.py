from django.contrib.auth import views as auth
from django.urls import path, reverse_lazy

from frontend.views import dataset, device, device_model, home, run, sweep, workload

sign_in = auth.LoginView.as_view(template_name="frontend/account/login.html")
change_password = auth.PasswordChangeView.as_view(
    template_name="frontend/account/password_change.html", success_url=reverse_lazy("home")
)

urlpatterns = [
    path("", home.home_page, name="home"),
    path("search/", home.search_page, name="search"),
    path("login/", sign_in, name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("password/", change_password, name="password_change"),
    path("workloads/", workload.workload_list_page, name="workload-list"),
    path("workloads/<slug:slug>/", workload.workload_page, name="workload-detail"),
    path("datasets/", dataset.dataset_list_page, name="dataset-list"),
    path("datasets/published/", dataset.published_page, name="published-list"),
    path("runs/", run.run_list_page, name="run-list"),
    path("runs/<int:pk>/", run.run_page, name="run-detail"),
    path("sweeps/", sweep.sweep_list_page, name="sweep-list"),
    path("sweeps/<int:pk>/", sweep.sweep_page, name="sweep-detail"),
    path("devices/", device.device_list_page, name="device-list"),
    path("devices/<slug:slug>/", device.device_page, name="device-detail"),
    path("device-models/", device_model.device_model_list_page, name="device-model-list"),
    path("device-models/<slug:slug>/", device_model.device_model_page, name="device-model-detail"),
]
