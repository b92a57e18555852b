from django.http import HttpRequest, HttpResponseBase
from django.middleware.http import ConditionalGetMiddleware
from django.utils.cache import patch_vary_headers


class ApiConditionalGetMiddleware(ConditionalGetMiddleware):
    """An ETag on what the API answers, and 304 for whoever has it already.

    Pages are left out: each holds another CSRF token, so no two are the same.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        found = request.method == "GET" and response.status_code == 200
        if not found or not request.path.startswith("/api/v1/"):
            return response
        if not response.has_header("Cache-Control"):
            response["Cache-Control"] = "private, no-cache"  # keep it, but ask before using it again
        patch_vary_headers(response, ["Authorization"])
        return super().process_response(request, response)
