"""Every setting, from the environment; a bad value is refused by name at start."""

import sys
from pathlib import Path

import environ
from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key

from jetsonlab.env import (
    broker_settings,
    cache_settings,
    count,
    database_settings,
    email_settings,
    flag,
    matching,
    time_zone,
)

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
TESTING = "pytest" in sys.modules

DATA_DIR = Path(env.str("JETSONLAB_DATA", default=str(BASE_DIR / "var"))).resolve()
DEBUG = flag(env, "DEBUG", default=False)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
HTTPS = flag(env, "HTTPS", default=False)


def secret_key() -> str:
    """SECRET_KEY, or one made once and kept beside the embedded database."""
    if key := env.str("SECRET_KEY", default=""):
        if len(key) < 50:
            raise ImproperlyConfigured(
                "SECRET_KEY must have at least 50 characters; make one with: openssl rand -hex 32"
            )
        return key
    kept = DATA_DIR / "secret_key"
    if not kept.exists():
        DATA_DIR.mkdir(parents=True, exist_ok=True)
        kept.touch(mode=0o600)
        kept.write_text(get_random_secret_key())
    return kept.read_text()


SECRET_KEY = secret_key()

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "django_filters",
    "django_htmx",
    "csp",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "jetsonlab",
    "profiling",
    "modeling",
    "frontend",  # before allauth: its templates give allauth's pages our looks
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "jetsonlab.conditional.ApiConditionalGetMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "frontend.middleware.SignedInMiddleware",
    "frontend.middleware.TimeZoneMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "frontend.middleware.LabErrorMiddleware",
]

ROOT_URLCONF = "jetsonlab.urls"
WSGI_APPLICATION = "jetsonlab.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "frontend.middleware.reading",
            ]
        },
    }
]

DATABASES = {"default": database_settings(env, DATA_DIR)}
CACHES = {"default": cache_settings(env, DATA_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/login/"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
ANONYMOUS_READING = flag(env, "ANONYMOUS_READING", default=False)
TRUSTED_PROXIES = count(env, "TRUSTED_PROXIES", default=0)

# People come by invitation; who is signed in, by which password and code, is allauth's work.
ACCOUNT_ADAPTER = "jetsonlab.accounts.AccountAdapter"
ACCOUNT_FORMS = {"login": "frontend.account_forms.SignInForm"}
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_EMAIL_SUBJECT_PREFIX = "jetsonlab: "
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if HTTPS else "http"
ACCOUNT_SESSION_REMEMBER = True
# A whole lab may come from one address.
ACCOUNT_RATE_LIMITS = {"login": "200/5m/ip", "login_failed": "100/5m/ip,10/5m/key"}
MFA_ADAPTER = "jetsonlab.accounts.MfaAdapter"
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_TOTP_ISSUER = "jetsonlab"
PASSWORD_RESET_TIMEOUT = 86_400
vars().update(email_settings(env))
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.str("EMAIL_FROM", default="jetsonlab@localhost")

LANGUAGE_CODE = "en-gb"
TIME_ZONE = time_zone(env, "TIME_ZONE", default="UTC")
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "frontend.finders.PlotlyFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG or TESTING
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
MEDIA_ROOT = DATA_DIR / "files"
FILE_UPLOAD_PERMISSIONS = 0o640
FILE_UPLOAD_HANDLERS = ["profiling.receiving.SpoolHandler"]
UPLOAD_MAX_BYTES = count(env, "UPLOAD_MAX_MB", default=256, least=1) * 2**20

# 0: telemetry is kept for ever. The datasets, by slug, whose runs keep theirs whatever their age.
RETAIN_TELEMETRY_DAYS = count(env, "RETAIN_TELEMETRY_DAYS", default=0)
RETAIN_DATASETS = env.list("RETAIN_DATASETS", default=[])

CELERY_BROKER_URL, CELERY_BROKER_TRANSPORT_OPTIONS = broker_settings(env, DATA_DIR)
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULE = {
    "sweeps": {"task": "profiling.tasks.look_after_sweeps", "schedule": 30.0},
    # Lost messages and dead workers. A message that waited behind a long fit has nothing new to say.
    "uploads": {"task": "profiling.tasks.look_after_uploads", "schedule": 300.0, "options": {"expires": 300}},
    "telemetry": {"task": "profiling.tasks.look_after_telemetry", "schedule": 3600.0},
    "people": {"task": "profiling.tasks.look_after_people", "schedule": 86_400.0},
    "tables": {"task": "profiling.tasks.look_after_tables", "schedule": 86_400.0},
    "fits": {"task": "modeling.tasks.look_after_work", "schedule": 300.0, "options": {"expires": 300}},
}

API_RATE = matching(
    env, "API_RATE", r"[1-9]\d*/[smhd][a-z]*", default="1200/min", such_as="like 1200/min or 20/s"
)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "profiling.authentication.ApiTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["profiling.permissions.ScopePermission"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_FILTER_BACKENDS": ["jetsonlab.filters.StrictFilterBackend"],
    "DEFAULT_PAGINATION_CLASS": "profiling.pagination.NewestFirst",
    "EXCEPTION_HANDLER": "jetsonlab.problems.exception_handler",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["jetsonlab.parsers.BoundedJSONParser"],
    "DEFAULT_THROTTLE_CLASSES": [
        "rest_framework.throttling.AnonRateThrottle",
        "profiling.throttles.TokenRateThrottle",
    ],
    "DEFAULT_THROTTLE_RATES": {"anon": "60/min", "user": API_RATE},
    # Without a proxy the address is the socket's; X-Forwarded-For is believed for so many proxies only.
    "NUM_PROXIES": TRUSTED_PROXIES,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "jetsonlab",
    "DESCRIPTION": "Which power mode to run a neural network in on an NVIDIA Jetson.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {
        "RunState": "profiling.models.Run.State",
        "UploadState": "profiling.models.Upload.State",
        "SweepState": "profiling.models.Sweep.State",
        "PredictionMethod": "modeling.serializers.METHOD_NAMES",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "jetsonlab.schema.refuse_more",
        "jetsonlab.schema.add_problems",
    ],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:", "blob:"],
        "style-src": ["'self'"],
        "frame-ancestors": ["'none'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "object-src": ["'none'"],
    }
}

LOG_LEVEL = matching(
    env,
    "LOG_LEVEL",
    "|".join(LEVELS),
    default="WARNING" if TESTING else "INFO",
    such_as=f"one of {', '.join(LEVELS)}",
)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {
        "handlers": ["console"],
        "level": LOG_LEVEL,
    },
}
