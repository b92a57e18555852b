"""The worker's face: `celery -A jetsonlab worker`. The database is the truth, messages only wake workers."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jetsonlab.settings")

app = Celery("jetsonlab")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["profiling", "modeling"])
