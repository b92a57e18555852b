from typing import Any

from profiling.strict import strict_components

PROBLEM = {
    "type": "object",
    "description": "RFC 9457",
    "properties": {
        "type": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "description": "for programs"},
        "detail": {"type": "string", "description": "for people: what is wrong, and what to do"},
        "errors": {"description": "every bad field or line"},
    },
    "required": ["type", "status", "code", "detail"],
}
ANSWER = {
    "description": "What was wrong with the request.",
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


def refuse_more(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Of bodies in which nothing unknown is taken."""
    components = result.setdefault("components", {}).setdefault("schemas", {})
    for name in strict_components() & set(components):
        components[name]["additionalProperties"] = False
    return result


def add_problems(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Each operation may answer with a problem."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    for operations in result["paths"].values():
        for operation in operations.values():
            operation["responses"]["4XX"] = ANSWER
    return result
