"""The worker's face: `celery -A jetsonlab worker`. The database is the truth, messages only wake workers."""

import os

from celery import Celery

from profiling.broker import make_folder_broker_safe

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "jetsonlab.settings")

make_folder_broker_safe()
app = Celery("jetsonlab")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["profiling", "modeling"])
