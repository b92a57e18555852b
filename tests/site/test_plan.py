"""The planner's page: the question in the address, the answer in cards, the modes in binary."""

import numpy as np
import pytest
from django.urls import reverse

from modeling.answers import PlanQuestion
from modeling.models import Plan, PredictionSet
from modeling.selectors.landscape import landscape
from modeling.services.plans import plan_make

TIED = "\u00a0"

PAIR = {"workload": "resnet", "device_model": "orin-mini"}


@pytest.fixture
def ask(browser, ready):
    def get(headers=None, **question):
        return browser.get(reverse("plan"), {**PAIR, **question}, headers=headers or {})

    return get


def test_the_address_holds_the_whole_question(ask):
    question = (
        ask(
            power_w=20,
            epoch_min=30,
            energy_j=9,
            risk=10,
            objective="leanest",
            cores_max=4,
            cpu_khz_min=1_190_400,
        )
        .context["answer"]
        .question
    )
    assert question == PlanQuestion(
        power_mw=20_000,
        epoch_s=1800,
        energy_mj=9000,
        risk=0.1,
        objective="leanest",
        allowed={"cores": (None, 4), "cpu_khz": (1_190_400, None)},
    )


def test_the_page_shows_what_the_service_answers(ask, resnet, orin):
    answer = plan_make(workload=resnet, device_model=orin, question=PlanQuestion(power_mw=20_000))
    page = ask(power_w=20).content.decode()
    assert f"{answer.mode.knobs.cores} cores" in page
    assert all(sentence in page.replace(TIED, " ") for sentence in answer.explanation)
    assert "MAXN" in page
    assert "POWER_MODEL" in page


def test_htmx_gets_the_cards_only(ask):
    part = ask(headers={"HX-Request": "true"}, power_w=20).content.decode()
    assert "Your mode" in part
    assert "<form" not in part
    assert 'id="plan-marks"' in part


def test_no_mode_fitting_says_by_how_much(ask):
    page = ask(power_w=1).content.decode()
    assert "No mode keeps 1 W at this risk. The closest needs" in page
    assert 'id="nvpmodel"' not in page


def test_stale_predictions_say_so(ask):
    PredictionSet.objects.update(stale=True, stale_reason="Its measurements changed since the fit.")
    assert "Its measurements changed since the fit." in ask().content.decode()


def test_without_a_predictor_the_next_step_is_named(browser, resnet, orin):
    page = browser.get(reverse("plan"), PAIR).content.decode()
    assert "There is nothing to plan with yet" in page
    assert "No predictor is fitted" in page


def test_without_a_pair_one_is_chosen(browser, ready):
    page = browser.get(reverse("plan")).content.decode()
    assert "Ready to plan" in page
    assert "workload=resnet&amp;device_model=orin-mini" in page


@pytest.mark.parametrize(
    "wrong", [{"power_w": "many"}, {"power_w": -1}, {"objective": "best"}, {"cores_max": 5}, {"risk": 99}]
)
def test_a_question_that_makes_no_sense_is_refused_in_words(ask, wrong):
    answer = ask(**wrong)
    assert answer.status_code == 400
    assert next(iter(wrong)) in answer.content.decode()


def test_the_columns_are_the_landscape_mode_by_mode(browser, ready, resnet, orin):
    answer = browser.get(reverse("plan-columns"), PAIR)
    assert "immutable" in answer["Cache-Control"]
    count, land = orin.mode_count, landscape(workload=resnet, device_model=orin)
    numbers = np.frombuffer(answer.content[: 16 * count], dtype="<f4").reshape(4, count)
    flags = np.frombuffer(answer.content[16 * count :], dtype=np.uint8)
    assert numbers[0] == pytest.approx(land.prediction.time_ms, rel=1e-6)
    assert numbers[1] == pytest.approx(land.prediction.power_mw, rel=1e-6)
    assert ((flags & 1) > 0).tolist() == land.measured.tolist()
    assert (flags & 2).any()


def test_epoch_ceilings_reach_the_plot_per_minibatch(ask, resnet):
    marks = ask(epoch_min=10).context["marks"]
    assert marks["ceilings"]["time_ms"] == [pytest.approx(600_000 / resnet.minibatches_per_epoch)]


def test_the_nvpmodel_block_is_a_download(browser, ready):
    file = browser.get(reverse("plan-nvpmodel"), {**PAIR, "power_w": 20})
    assert file["Content-Disposition"] == 'attachment; filename="resnet-orin-mini.conf"'
    assert file.content.startswith(b"< POWER_MODEL ID=")


def test_there_is_no_block_for_a_budget_nothing_keeps(browser, ready):
    assert browser.get(reverse("plan-nvpmodel"), {**PAIR, "power_w": 1}).status_code == 409


def test_only_the_planner_lets_webgl_compile(ask, browser):
    assert "'unsafe-eval'" in ask()["Content-Security-Policy"]
    assert "unsafe-inline" not in ask()["Content-Security-Policy"]
    assert "unsafe-eval" not in browser.get("/predictors/")["Content-Security-Policy"]


def test_emulated_predictions_are_labelled(browser, resnet, measure, fit):
    measure(resnet, range(0, 36, 4), emulated=True)
    fit()
    page = browser.get(reverse("plan"), PAIR).content.decode()
    assert '<span class="tag emulated">emulated</span>' in page
    assert "Emulated modes" in page
    assert "tag measured" not in page


def test_predictor_pages_show_the_card(browser, ready):
    listed = browser.get(reverse("predictor-list")).content.decode()
    assert "ResNet-18 / ImageNet" in listed
    page = browser.get(reverse("predictor-detail", args=[ready.pk])).content.decode()
    assert "Plan with it" in page
    assert "held out" in page


def test_replanning_asks_the_database_little(ask, django_assert_max_num_queries):
    ask()
    with django_assert_max_num_queries(20):
        ask(headers={"HX-Request": "true"}, power_w=18)


@pytest.fixture
def kept(browser, ready):
    browser.post(reverse("plan-keep"), {**PAIR, "power_w": 20, "objective": "leanest", "cores_max": 4})
    return Plan.objects.get()


def test_nothing_is_wrong_before_anything_is_asked(browser, ready):
    page = browser.get("/plan/").content.decode()
    assert "Ready to plan" in page
    assert "This field is required" not in page


def test_a_kept_plan_is_listed_and_shown_as_it_was_believed(browser, kept):
    PredictionSet.objects.all().delete()
    assert (
        f"least power within 20{TIED}W, risk 5{TIED}%" in browser.get(reverse("plan-list")).content.decode()
    )
    page = browser.get(reverse("plan-detail", args=[kept.pk])).content.decode()
    assert "Your mode" in page
    assert kept.answer["explanation"][0] in page.replace(TIED, " ")
    assert f"least power within 20{TIED}W" in browser.get("/").content.decode()


def test_a_kept_plan_asks_the_same_question_again(browser, kept):
    address = browser.get(reverse("plan-detail", args=[kept.pk])).context["address"]
    question = browser.get(address).context["answer"].question
    assert (question.power_mw, question.objective, question.allowed) == (
        20_000,
        "leanest",
        {"cores": (None, 4)},
    )


def test_a_plan_nothing_keeps_can_be_kept_too(browser, ready):
    browser.post(reverse("plan-keep"), {**PAIR, "power_w": 1})
    assert "none fits" in browser.get(reverse("plan-list")).content.decode()


def test_a_viewer_plans_but_keeps_nothing(client, vera, ready):
    client.force_login(vera)
    assert "Your mode" in client.get(reverse("plan"), PAIR).content.decode()
    assert client.post(reverse("plan-keep"), PAIR).status_code == 403


def test_htmx_is_sent_to_the_kept_plan(browser, ready):
    answer = browser.post(reverse("plan-keep"), PAIR, headers={"HX-Request": "true"})
    assert answer["HX-Redirect"] == reverse("plan-detail", args=[Plan.objects.get().pk])


def test_several_minibatch_sizes_can_be_chosen_or_compete(browser, resnet, orin, measure, fit):
    for size in (8, 16, 32):
        measure(resnet, range(0, 36, 4), minibatch=size)
    fit()
    page = browser.get(reverse("plan"), PAIR | {"minibatch": "any"})
    assert page.context["answer"].question.minibatch == "any"
    assert 'value="any" selected' in page.content.decode()
    assert browser.get(reverse("plan"), PAIR | {"minibatch": "32"}).context["answer"].mode.minibatch == 32
    assert browser.get(reverse("plan-columns"), PAIR | {"minibatch": "any"}).status_code == 200
    assert browser.get(reverse("plan"), PAIR | {"minibatch": "64"}).status_code == 400
    assert browser.get(reverse("plan"), PAIR | {"minibatch": "all"}).status_code == 400


def test_one_minibatch_size_is_no_choice(ask):
    assert 'id="id_minibatch"' not in ask().content.decode()
