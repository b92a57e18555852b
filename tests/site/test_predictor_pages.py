import pytest
from django.urls import reverse

from frontend.predictor_charts import own_figures, worst_held_out
from frontend.templatetags.lab import signed
from modeling.models import PredictionSet, Predictor
from modeling.services.prediction_sets import prediction_sets_check
from profiling.models import Run
from profiling.selectors.fitting import RULE


def page_of(browser, predictor):
    return browser.get(reverse("predictor-detail", args=[predictor.pk])).content.decode()


def test_a_predictor_shows_how_it_did_on_modes_it_was_not_shown(browser, ready):
    page = page_of(browser, ready)
    assert "Time error of each held-out mode" in page
    assert "Are its intervals true?" in page
    assert "Predicted worst" in page


def test_every_held_out_mode_is_a_point(ready):
    figures = {name: figure for name, _, figure in own_figures(ready.card)}
    assert len(figures["own-time"]["data"][0]["x"]) == 8
    assert [trace["name"] for trace in figures["own-calibration"]["data"]] == ["as stated", "time", "power"]


def test_the_worst_come_first(ready):
    sizes = [max(abs(row["time_pct"]), abs(row["power_pct"])) for row in worst_held_out(ready.card)]
    assert len(sizes) == 5
    assert sizes == sorted(sizes, reverse=True)


def test_a_method_without_intervals_has_no_calibration(measure, fit, resnet):
    measure(resnet, range(0, 36, 4))
    names = [name for name, _, _ in own_figures(fit(method="nearest").card)]
    assert names == ["own-time", "own-power"]


def test_an_unknown_error_is_a_dash_not_a_zero(browser, measure, fit, resnet):
    measure(resnet, [0, 35])
    page = page_of(browser, fit(method="linear"))
    assert "Too few measured modes to estimate its own error" in page
    assert "<dt>Time error, MAPE %</dt><dd>0</dd>" not in page


@pytest.mark.parametrize("card", [{}, {"own_error": None}, {"own_error": {"rows": 8, "time_mape": 3.0}}])
def test_older_cards_still_show(browser, ready, card):
    Predictor.objects.update(card={**card, "rows": 8})
    assert "How it was made</h2>" in page_of(browser, ready)


def test_it_says_how_many_runs_the_fitting_rule_leaves_out(browser, ready, resnet):
    first, *_ = Run.objects.filter(workload=resnet)
    Run.objects.filter(pk=first.pk).update(flags=["unstable"])
    page = page_of(browser, ready)
    assert RULE in page
    assert "1 unstable</a>" in page


def test_a_bad_fit_is_said(browser, ready):
    ready.card["misfits"] = ["time"]
    ready.save(update_fields=["card"])
    assert "The formula fits this workload&#x27;s time badly" in page_of(browser, ready).replace(
        "'", "&#x27;"
    )


def test_a_stale_one_leads_to_the_newer(browser, ready, fit, measure, resnet, orin):
    measure(resnet, [1])
    prediction_sets_check(workload_id=resnet.pk, device_model_id=orin.pk)
    assert "Fit again" in page_of(browser, ready)
    newer = fit()
    ready.prediction_set = PredictionSet.objects.create(
        predictor=ready, minibatches=[16], mode_count=36, stale=True
    )
    page = page_of(browser, ready)
    assert f'href="{reverse("predictor-detail", args=[newer.pk])}">Predictor {newer.pk}</a> is newer' in page
    assert "Fit again" not in page


def test_a_number_keeps_its_sign():
    assert (signed(-0.1534), signed(2.34)) == ("−0.15", "+2.3")
    assert "states no uncertainty" in signed(None)
