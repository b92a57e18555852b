# make demo  the site with demo data     make run  the site without     make test  make lint  make bench
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed-$(shell cksum < requirements.txt | cut -d' ' -f1)
export DJANGO_SETTINGS_MODULE := jetsonlab.settings

.PHONY: demo run test lint bench install

install: $(INSTALLED)

$(INSTALLED): requirements.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	rm -f $(VENV)/.installed-*
	touch $@

demo: install
	$(BIN)/python manage.py prepare --demo
	$(BIN)/honcho start -f Procfile.demo

run: install
	$(BIN)/python manage.py prepare
	$(BIN)/honcho start -f Procfile

test: install
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy jetsonlab profiling modeling frontend
	$(BIN)/python manage.py makemigrations --check --dry-run

bench: install
	$(BIN)/python -m bench
