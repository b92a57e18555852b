from profiling.catalog.published import Paper, PublishedFigure, published_figures


def published_list(*, paper: str = "", device_model: str = "", topic: str = "") -> list[PublishedFigure]:
    """Empty words filter nothing."""
    return [
        figure
        for figure in published_figures()
        if paper in ("", figure.paper.key)
        and device_model in ("", figure.device_model)
        and topic in ("", figure.topic)
    ]


def published_choices() -> dict[str, list[tuple[str, str]]]:
    """Which values each filter knows, as (value, label)."""
    figures = published_figures()
    papers = {figure.paper.key: figure.paper.short for figure in figures}
    return {
        "paper": list(papers.items()),
        "device_model": sorted({(f.device_model, f.device_model) for f in figures}),
        "topic": sorted({(f.topic, f.topic) for f in figures}),
    }


def published_papers() -> list[Paper]:
    return list(dict.fromkeys(figure.paper for figure in published_figures()))
