from profiling.catalog.published import published_figures
from profiling.selectors.published import published_choices, published_list, published_papers


def test_all_five_papers_are_there_and_every_figure_names_its_place():
    assert len(published_papers()) == 5
    assert all(figure.where and figure.quantity and figure.conditions for figure in published_figures())


def test_the_headline_figures_are_as_published():
    found = published_list(paper="powertrain", device_model="AGX Orin", topic="prediction error")
    yolo = {f.quantity: f.value for f in found if f.workload == "YOLO training" and "with 50" in f.conditions}
    assert yolo == {"Time prediction error (MAPE)": 11.7, "Power prediction error (MAPE)": 4.9}


def test_filters_narrow_and_their_choices_all_find_something():
    for name, choices in published_choices().items():
        for value, _ in choices:
            assert 0 < len(published_list(**{name: value})) < len(published_figures())


def test_no_figure_is_listed_twice():
    assert len(set(published_figures())) == len(published_figures())
