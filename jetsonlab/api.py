"""Every noun of /api/v1/ in one list."""

from django.urls import include, path
from rest_framework.routers import SimpleRouter

from profiling import api_agents
from profiling.api_sweeps import SweepViewSet

router = SimpleRouter()
router.register("sweeps", SweepViewSet)

agent_urls = [
    path("ping/", api_agents.PingView.as_view(), name="agent-ping"),
    path("enroll/", api_agents.EnrolView.as_view(), name="agent-enroll"),
    path("claim/", api_agents.ClaimView.as_view(), name="agent-claim"),
    path("runs/<int:pk>/heartbeat/", api_agents.HeartbeatView.as_view(), name="agent-heartbeat"),
    path("runs/<int:pk>/result/", api_agents.ResultView.as_view(), name="agent-result"),
    path("runs/<int:pk>/failure/", api_agents.FailureView.as_view(), name="agent-failure"),
]

urlpatterns = [path("", include(router.urls)), path("agent/", include(agent_urls))]
