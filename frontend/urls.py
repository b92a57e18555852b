from django.contrib.auth import views as auth
from django.urls import path, reverse_lazy

from frontend.views import (
    dataset,
    device,
    device_model,
    enrolment,
    home,
    plan,
    predictor,
    run,
    sweep,
    token,
    upload,
    verification,
    workload,
)
from profiling.sign_in import SignInForm

sign_in = auth.LoginView.as_view(
    template_name="frontend/account/login.html",
    authentication_form=SignInForm,
    redirect_authenticated_user=True,
)
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
    path("new-workload/", workload.workload_new_page, name="workload-create"),
    path("workloads/<slug:slug>/", workload.workload_page, name="workload-detail"),
    path("workloads/<slug:slug>/edit/", workload.workload_edit_page, name="workload-edit"),
    path("workloads/<slug:slug>/uploads/", upload.upload_send, name="upload-send"),
    path("uploads/<int:pk>/", upload.upload_page, name="upload-detail"),
    path("uploads/<int:pk>/row/", upload.upload_row, name="upload-row"),
    path("uploads/<int:pk>/columns/", upload.upload_map_columns, name="upload-map"),
    path("uploads/<int:pk>/choice/", upload.upload_decide, name="upload-decide"),
    path("uploads/<int:pk>/undo/", upload.upload_take_back, name="upload-undo"),
    path("uploads/<int:pk>/report/", upload.upload_report, name="upload-report"),
    path("tokens/", token.token_list_page, name="token-list"),
    path("tokens/<int:pk>/revoke/", token.token_end, name="token-revoke"),
    path("datasets/", dataset.dataset_list_page, name="dataset-list"),
    path("datasets/published/", dataset.published_page, name="published-list"),
    path("plan/", plan.plan_page, name="plan"),
    path("plan/columns/", plan.plan_columns_file, name="plan-columns"),
    path("plan/nvpmodel/", plan.plan_nvpmodel, name="plan-nvpmodel"),
    path("plan/keep/", plan.plan_keep, name="plan-keep"),
    path("plans/", plan.plan_list_page, name="plan-list"),
    path("plan/verify/", verification.plan_verify_asked, name="plan-verify-asked"),
    path("plans/<int:pk>/", plan.plan_detail_page, name="plan-detail"),
    path("plans/<int:pk>/verify/", verification.plan_verify_kept, name="plan-verify"),
    path("plans/<int:pk>/verification/", verification.plan_verification_part, name="plan-verification"),
    path("predictors/", predictor.predictor_list_page, name="predictor-list"),
    path("predictors/new/", predictor.predictor_ask, name="predictor-ask"),
    path("predictors/<int:pk>/", predictor.predictor_page, name="predictor-detail"),
    path("predictors/<int:pk>/retry/", predictor.predictor_again, name="predictor-retry"),
    path("runs/", run.run_list_page, name="run-list"),
    path("runs/<int:pk>/", run.run_page, name="run-detail"),
    path("sweeps/", sweep.sweep_list_page, name="sweep-list"),
    path("sweeps/new/", sweep.sweep_new_page, name="sweep-new"),
    path("sweeps/estimate/", sweep.sweep_estimate_part, name="sweep-expected"),
    path("sweeps/<int:pk>/", sweep.sweep_page, name="sweep-detail"),
    path("sweeps/<int:pk>/cancel/", sweep.sweep_end, name="sweep-cancel"),
    path("sweeps/<int:pk>/resume/", sweep.sweep_take_up, name="sweep-resume"),
    path("devices/", device.device_list_page, name="device-list"),
    path("new-device/", enrolment.device_new_page, name="device-create"),
    path("devices/<slug:slug>/token/", enrolment.device_token, name="device-token"),
    path("devices/<slug:slug>/", device.device_page, name="device-detail"),
    path("device-models/", device_model.device_model_list_page, name="device-model-list"),
    path("device-models/<slug:slug>/", device_model.device_model_page, name="device-model-detail"),
]
