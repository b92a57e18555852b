"""Every noun of /api/v1/ in one list."""

from django.urls import include, path, re_path
from rest_framework.routers import SimpleRouter

from jetsonlab.problems import no_such_address
from modeling.api import PlanViewSet, PredictorViewSet
from modeling.api_estimates import SweepEstimateView
from modeling.api_evaluations import EvaluationViewSet
from profiling import api_agents
from profiling.api_audit import AuditViewSet
from profiling.api_catalog import DeviceModelViewSet, DeviceViewSet, WorkloadViewSet
from profiling.api_datasets import DatasetViewSet
from profiling.api_packages import PackageView
from profiling.api_runs import RunViewSet
from profiling.api_sweeps import SweepViewSet
from profiling.api_tokens import TokenViewSet
from profiling.api_transfers import TransferViewSet
from profiling.api_uploads import UploadViewSet

router = SimpleRouter()
router.register("device-models", DeviceModelViewSet)
router.register("devices", DeviceViewSet)
router.register("workloads", WorkloadViewSet)
router.register("runs", RunViewSet)
router.register("datasets", DatasetViewSet)
router.register("uploads", UploadViewSet)
router.register("transfers", TransferViewSet)
router.register("sweeps", SweepViewSet)
router.register("tokens", TokenViewSet)
router.register("audit", AuditViewSet)
router.register("predictors", PredictorViewSet)
router.register("plans", PlanViewSet)
router.register("evaluations", EvaluationViewSet)

agent_urls = [
    path("ping/", api_agents.PingView.as_view(), name="agent-ping"),
    path("enroll/", api_agents.EnrolView.as_view(), name="agent-enroll"),
    path("mode/", api_agents.ModeView.as_view(), name="agent-mode"),
    path("packages/<str:sha256>/", api_agents.PackageFileView.as_view(), name="agent-package"),
    path("claim/", api_agents.ClaimView.as_view(), name="agent-claim"),
    path("runs/<int:pk>/heartbeat/", api_agents.HeartbeatView.as_view(), name="agent-heartbeat"),
    path("runs/<int:pk>/result/", api_agents.ResultView.as_view(), name="agent-result"),
    path("runs/<int:pk>/failure/", api_agents.FailureView.as_view(), name="agent-failure"),
]

urlpatterns = [
    path("workloads/<slug:slug>/package/", PackageView.as_view(), name="workload-package"),
    path("sweeps/estimate/", SweepEstimateView.as_view(), name="sweep-estimate"),
    path("", include(router.urls)),
    path("agent/", include(agent_urls)),
    re_path(r"^(?P<path>[\s\S]*)$", no_such_address),
]
