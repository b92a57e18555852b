"""What can go wrong, once: each error carries the HTTP status and code it is answered with."""

from typing import Any

UNSTORABLE = "The database cannot store a value of this request, such as a NUL character."


class LabError(Exception):
    """Base of every error a person can cause or mend: names the thing, the value, and what to do."""

    status = 400
    code = "bad_request"

    def __init__(self, message: str, **extra: Any) -> None:
        super().__init__(message)
        self.message = message
        self.extra = extra


class InvalidInput(LabError):
    """The request or file is wrong; `errors=[...]` in extra lists every bad field or line."""

    code = "invalid_input"


class NotFound(LabError):
    status = 404
    code = "not_found"


class Conflict(LabError):
    """The thing exists, but its present state forbids the step."""

    status = 409
    code = "conflict"


class Forbidden(LabError):
    status = 403
    code = "forbidden"


class LengthRequired(LabError):
    status = 411
    code = "length_required"


class TooLarge(LabError):
    status = 413
    code = "too_large"


class StorageFull(LabError):
    status = 507
    code = "storage_full"

    def __init__(self) -> None:
        super().__init__(
            "The server's disk is full, so this was not done. Tell whoever runs the site, and try again when "
            "there is room."
        )


class Busy(LabError):
    status = 503
    code = "busy"

    def __init__(self) -> None:
        super().__init__("The database was busy with others for too long, so this was not done. Try again.")


class BoardError(LabError):
    """The board refused, lacks, or lost something."""

    status = 502
    code = "board_error"
