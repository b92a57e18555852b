from django.apps import AppConfig


class ModelingConfig(AppConfig):
    name = "modeling"
    verbose_name = "Predictors and plans"

    def ready(self) -> None:
        from modeling import receivers  # noqa: F401  (listens once imported)
