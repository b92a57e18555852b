from django.db.models import QuerySet

from profiling.models import Upload

UNDER_WAY = (Upload.State.RECEIVED, Upload.State.READING, Upload.State.IMPORTING)
WAITING_FOR_PEOPLE = (Upload.State.MAPPING, Upload.State.CHOOSING)


def upload_list() -> QuerySet[Upload]:
    """Without the long columns, which only the page of one upload shows."""
    related = Upload.objects.select_related("workload", "device_model", "device", "uploader")
    return related.defer("problems", "proposal", "mapping")
