"""The way in that every browser test takes."""

from playwright.sync_api import Page


def sign_in(page: Page, name: str, password: str) -> None:
    page.goto("/login/")
    page.fill("[name=username]", name)
    page.fill("[name=password]", password)
    page.press("[name=password]", "Enter")
    page.wait_for_selector(".topbar")
