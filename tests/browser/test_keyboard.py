"""Without a mouse: Tab reaches every control in the order of the page; each is named and shows the focus."""

import pytest
from playwright.sync_api import Page, expect

from profiling.models import Device, Workload
from profiling.services.invitations import person_invite
from tests.browser.signing_in import sign_in
from tests.browser.test_walk import no_overflow, no_violations

pytestmark = pytest.mark.django_db(transaction=True)

# What a person can press or fill in, seen on the page, outside of closed menus.
CONTROLS = """() => {
  const all = document.querySelectorAll(
    'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]');
  const usable = [...all].filter((each) => !each.disabled && each.checkVisibility({visibilityProperty: true})
                                           && !each.closest('details:not([open]) > :not(summary)'));
  usable.forEach((each, place) => { each.dataset.place = place; });
  return usable.length;
}"""
FOCUSED = """() => {
  const here = document.activeElement, style = getComputedStyle(here), box = here.getBoundingClientRect();
  const labels = [...(here.labels || [])].map((each) => each.textContent).join(' ');
  const name = here.getAttribute('aria-label') || labels || here.textContent || here.title || '';
  const at = document.elementFromPoint(box.x + Math.min(box.width, innerWidth) / 2, box.y + box.height / 2);
  return {place: here.dataset.place ? +here.dataset.place : null, what: here.outerHTML.slice(0, 90),
          name: name.trim(), ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
          seen: box.bottom > 0 && box.top < innerHeight && !!at};
}"""
RADIOS = "document.querySelectorAll('input[type=radio]').length"


def faults_of(page: Page, path: str) -> list[str]:
    page.goto(path)
    expect(page.locator(".htmx-request")).to_have_count(0)
    wanted = page.evaluate(CONTROLS)
    places, faults = [], []
    for _ in range(2 * wanted):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if [focused["place"]] == places[-1:]:  # a date takes three steps
            continue
        if focused["place"] is None or focused["place"] in places:
            break
        places.append(focused["place"])
        faults += [
            f"{path}: no {need}: {focused['what']}" for need in ("name", "ring", "seen") if not focused[need]
        ]
    if places != sorted(places):
        faults.append(f"{path}: Tab jumps: {places}")
    if page.evaluate(RADIOS) == 0 and len(places) != wanted:  # of radio buttons Tab visits one a group
        missed = sorted(set(range(wanted)) - set(places))
        words = page.evaluate(
            "(n) => document.querySelector(`[data-place='${n}']`)?.outerHTML.slice(0, 90)", missed[0]
        )
        faults.append(f"{path}: Tab reaches {len(places)} of {wanted} controls; not {words}")
    return faults


@pytest.fixture
def office(page: Page, ada, resnet: Workload, board: Device) -> Page:
    person_invite(email="n@example.org", role="viewer", user=ada)
    sign_in(page, "ada", "ada-long-password")
    return page


PATHS = ("/", "/people/", "/audit/", "/password/", "/two-factor/", "/sessions/", "/tokens/", "/new-workload/")
MORE = ("/runs/", "/devices/", "/sweeps/new/", "/workloads/resnet/", "/plan/")


def test_every_control_is_reached_named_and_shown(office: Page) -> None:
    faults = [fault for path in (*PATHS, *MORE) for fault in faults_of(office, path)]
    assert not faults, "\n".join(faults)


def test_the_way_in_needs_no_mouse(page: Page, eng) -> None:
    assert faults_of(page, "/login/") + faults_of(page, "/password/reset/") == []
    page.goto("/login/")
    page.focus("[name=username]")
    page.keyboard.type("eng")
    page.keyboard.press("Tab")
    page.keyboard.type("eng-long-password")
    page.keyboard.press("Enter")
    page.wait_for_selector(".topbar")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_the_pages_of_people_have_no_barriers(office: Page, ada) -> None:
    for path in (
        "/people/",
        f"/people/{ada.pk}/",
        "/audit/",
        "/password/",
        "/two-factor/",
        "/sessions/",
        "/login/again/",
    ):
        office.goto(path)
        no_violations(office)
        no_overflow(office)


def test_the_menu_opens_and_closes_by_keys(office: Page) -> None:
    office.focus("details.menu summary")
    office.keyboard.press("Enter")
    assert office.get_by_role("link", name="Audit log").is_visible()
    office.keyboard.press("Escape")
    assert not office.get_by_role("link", name="Audit log").is_visible()
    assert office.evaluate("document.activeElement.tagName") == "SUMMARY"
