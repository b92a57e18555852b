from django.apps import AppConfig


class ProfilingConfig(AppConfig):
    name = "profiling"
    verbose_name = "Boards and measurements"

    def ready(self) -> None:
        from profiling import receivers  # noqa: F401  (listens once imported)
