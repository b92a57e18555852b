from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from frontend.assign_form import AssignForm
from modeling.selectors.assignments import pairings


def assign_page(request: HttpRequest) -> HttpResponse:
    form = AssignForm(request.GET)
    asked = "workload" in request.GET or "board" in request.GET
    rows = pairings(**form.question()) if asked and form.is_valid() else []
    context = {
        "form": form,
        "asked": asked,
        "rows": rows,
        "placed": [each for row in rows for each in row if each.chosen],
        "waiting": [row[0].workload for row in rows if not any(each.chosen for each in row)],
    }
    return render(request, "frontend/plan/assign.html", context)
