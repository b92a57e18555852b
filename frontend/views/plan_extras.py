"""The sections under a plan, each loaded when it is opened."""

import csv
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.gzip import gzip_page

from frontend.browsing import hidden_fields
from frontend.charts import plan_rows
from frontend.plan_extras_form import ExtrasForm, asked_extras, brush_words
from frontend.plan_figures import curve_figures, map_figure, parallel_figure
from frontend.views.plan import asked_question
from modeling.answers import BudgetAnswer, PlanAnswer
from modeling.selectors.board_conf import board_conf
from modeling.selectors.budgets import other_budgets
from modeling.selectors.charts import plan_chart_data
from modeling.selectors.deadlines import cheapest_by, sustained_by
from modeling.selectors.explorations import best_modes, knob_curves, knob_map, parallel_modes, pinned_modes
from modeling.selectors.landscape import Landscape, landscape
from modeling.services.plans import plan_make
from modeling.whatif import what_if

BEST = 20
HOUR_S = 3600


@dataclass(frozen=True)
class Asked:
    land: Landscape
    answer: PlanAnswer
    extras: ExtrasForm

    def shown(self, request: HttpRequest, section: str, **more: Any) -> HttpResponse:
        context = {"answer": self.answer, "mode": self.answer.mode, "extras": self.extras, **more}
        part = f"frontend/plan/extras/_{section}.html"
        if getattr(request, "htmx", False):
            return render(request, part, context)
        kept = hidden_fields(request.GET, self.extras.fields)
        return render(request, "frontend/plan/extras/page.html", context | {"part": part, "kept": kept})


def asked_of(request: HttpRequest) -> Asked:
    form = asked_question(request)
    pair = {name: form.cleaned_data[name] for name in ("workload", "device_model")}
    question = form.question()
    answer = plan_make(**pair, question=question)
    land = landscape(**pair, predictor_id=question.predictor_id)
    return Asked(land, answer, asked_extras(request.GET, pair["device_model"]))


@gzip_page
def plan_parallel(request: HttpRequest) -> HttpResponse:
    asked = asked_of(request)
    lines = parallel_modes(land=asked.land, answer=asked.answer)
    figure = parallel_figure(lines, asked.extras.cleaned_data["brush"]) if lines.total else None
    return asked.shown(request, "parallel", figure=figure, lines=lines)


@gzip_page
def plan_map(request: HttpRequest) -> HttpResponse:
    asked = asked_of(request)
    choice = asked.extras.cleaned_data
    shown = knob_map(
        land=asked.land,
        answer=asked.answer,
        quantity=choice["map_of"],
        across=choice["map_x"],
        up=choice["map_y"],
        at_choice=choice["map_rest"] == "choice",
    )
    return asked.shown(request, "map", figure=map_figure(shown, choice["map_as"] == "surface"), map=shown)


@gzip_page
def plan_knobs(request: HttpRequest) -> HttpResponse:
    asked = asked_of(request)
    curves = knob_curves(land=asked.land, answer=asked.answer)
    figures = curve_figures(curves, asked.extras.cleaned_data["knob_of"])
    rows = [curves[place : place + 3] for place in range(0, len(curves), 3)]
    return asked.shown(request, "knobs", figures=figures, rows=rows)


def plan_best(request: HttpRequest) -> HttpResponse:
    asked = asked_of(request)
    brush, pins = asked.extras.cleaned_data["brush"], asked.extras.cleaned_data["pin"]
    best = best_modes(land=asked.land, answer=asked.answer, count=BEST, extents=brush)
    pinned = pinned_modes(land=asked.land, answer=asked.answer, ranks=pins)
    return asked.shown(request, "best", best=best, pinned=pinned, pins=pins, brushed=brush_words(brush))


def plan_budgets(request: HttpRequest) -> HttpResponse:
    asked = asked_of(request)
    budgets = [
        shown_budget(request.GET, each) for each in other_budgets(land=asked.land, answer=asked.answer)
    ]
    return asked.shown(request, "budgets", budgets=budgets, sizes=len(asked.land.minibatches) > 1)


def shown_budget(question: QueryDict, each: BudgetAnswer) -> dict[str, Any]:
    """With the limit in W, and the planner's address that asks with it."""
    watts = f"{each.power_mw / 1000:g}"
    other = question.copy()
    other["power_w"] = watts
    return {**vars(each), "watts": watts, "address": f"{reverse('plan')}?{other.urlencode()}"}


def plan_what_if(request: HttpRequest) -> HttpResponse:
    asked = asked_of(request)
    given = asked.extras.cleaned_data
    terms = {"epochs": given["epochs"], "price_per_kwh": given["price"]}
    told = what_if(mode=asked.answer.mode, battery_wh=given["battery_wh"], **terms)
    others = {"cheapest": None if told.reason else by_deadline(asked), "steady": steadily(asked)}
    told_of = {f"{name}_told": what_if(mode=each.mode, **terms) for name, each in others.items() if each}
    return asked.shown(request, "what_if", told=told, given=given, **others, **told_of)


def by_deadline(asked: Asked) -> PlanAnswer | None:
    hours, epochs = (asked.extras.cleaned_data[name] for name in ("deadline_h", "epochs"))
    if not (hours and epochs):
        return None
    return cheapest_by(land=asked.land, answer=asked.answer, epochs=epochs, deadline_s=hours * HOUR_S)


def steadily(asked: Asked) -> PlanAnswer | None:
    given = asked.extras.cleaned_data
    supply = {name: given[name] for name in ("sun_wh", "cooling_w")}
    return sustained_by(land=asked.land, answer=asked.answer, **supply)


def plan_board(request: HttpRequest) -> HttpResponse:
    asked = asked_of(request)
    device = asked.extras.cleaned_data["device"]
    advice = board_conf(answer=asked.answer, device=device) if device else None
    return asked.shown(request, "board", device=device, advice=advice)


@gzip_page
def plan_modes_file(request: HttpRequest) -> HttpResponse:
    """Every mode of the plot, a line each, for a spreadsheet."""
    asked = asked_of(request)
    data = plan_chart_data(land=asked.land, minibatch=asked.answer.mode.minibatch)
    file = HttpResponse(content_type="text/csv; charset=utf-8")
    name = f"{asked.answer.workload}-{asked.answer.device_model}-modes.csv"
    file["Content-Disposition"] = f'attachment; filename="{name}"'
    csv.writer(file).writerows(plan_rows(data))
    return file
