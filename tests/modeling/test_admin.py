import pytest
from django.test import Client

from modeling.services.plans import plan_make, plan_save


@pytest.fixture
def admin_client(ada):
    client = Client()
    client.force_login(ada)
    return client


@pytest.mark.parametrize("name", ["predictor", "predictionset", "plan"])
def test_lists_and_details_open_in_a_fixed_number_of_queries(
    admin_client, ready, eng, resnet, orin, name, django_assert_max_num_queries
):
    plan = plan_save(answer=plan_make(workload=resnet, device_model=orin), user=eng)
    pk = {"predictor": ready.pk, "predictionset": ready.prediction_set.pk, "plan": plan.pk}[name]
    with django_assert_max_num_queries(12):
        assert admin_client.get(f"/admin/modeling/{name}/?q=res").status_code == 200
    assert admin_client.get(f"/admin/modeling/{name}/{pk}/change/").status_code == 200


def test_nothing_is_added_by_hand(admin_client):
    assert admin_client.get("/admin/modeling/predictor/add/").status_code == 403
