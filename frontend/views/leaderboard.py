from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST
from django_htmx.http import HttpResponseClientRefresh

from frontend.charts import Figure
from frontend.evaluation_form import EvaluationForm, LeaderboardForm, ReportForm
from frontend.guards import engineer, page_of
from frontend.leaderboard_charts import contest_figures
from modeling.selectors.evaluations import (
    OPEN,
    contests,
    evaluation_list,
    leaderboard,
    leaderboard_choices,
)
from modeling.services.evaluations import evaluation_import, evaluation_request
from profiling.errors import LabError
from profiling.selectors.progress import time_left

# Six plots each: more than this is chosen from by the filters.
MOST_DRAWN = 3
NEWEST = 8


def leaderboard_page(request: HttpRequest) -> HttpResponse:
    form = LeaderboardForm(request.GET, leaderboard_choices())
    rows = leaderboard(**form.chosen)
    found = contests(rows)
    drawn = [(each, named(contest_figures(each), place)) for place, each in enumerate(found[:MOST_DRAWN])]
    context = {
        "form": form,
        "page": page_of(request, rows),
        "drawn": drawn,
        "not_drawn": len(found[MOST_DRAWN:]),
        **newest(),
    }
    return render(request, "frontend/leaderboard/list.html", context)


def named(figures: dict[str, Figure], place: int) -> list[tuple[str, str, Figure]]:
    """With a name for each that no other on the page has."""
    return [(f"figure-{place}-{number}", title, each) for number, (title, each) in enumerate(figures.items())]


def newest() -> dict[str, object]:
    evaluations = [
        (each, time_left(since=each.started, done=each.steps_done, total=each.steps_total))
        for each in evaluation_list()[:NEWEST]
    ]
    return {"evaluations": evaluations, "under_way": any(each.state in OPEN for each, _ in evaluations)}


def evaluations_part(request: HttpRequest) -> HttpResponse:
    """Asked for while something is under way; when nothing is any more, there are new results to show."""
    context = newest()
    if not context["under_way"]:
        return HttpResponseClientRefresh()
    return render(request, "frontend/leaderboard/_evaluations.html", context)


def evaluation_new_page(request: HttpRequest) -> HttpResponse:
    user = engineer(request)
    form = EvaluationForm(request.POST or None, initial=request.GET.dict())
    if form.is_valid():
        try:
            evaluation_request(user=user, **form.cleaned_data)
            return redirect("leaderboard")
        except LabError as error:
            form.add_error(None, error.message)
    return ask_page(request, form, ReportForm(auto_id="report_%s"))


@require_POST
def evaluation_bring_in(request: HttpRequest) -> HttpResponse:
    user = engineer(request)
    form = ReportForm(request.POST, request.FILES, auto_id="report_%s")
    if not form.is_valid():
        return ask_page(request, EvaluationForm(), form)
    sent = form.cleaned_data
    evaluation_import(title=sent["title"], results=sent["report"], emulated=sent["emulated"], user=user)
    return redirect("leaderboard")


def ask_page(request: HttpRequest, form: EvaluationForm, report: ReportForm) -> HttpResponse:
    status = 422 if form.errors or report.errors else 200
    return render(request, "frontend/leaderboard/new.html", {"form": form, "report": report}, status=status)
