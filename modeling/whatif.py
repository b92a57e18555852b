"""A planned mode in the terms people have: a finish time, a battery, an energy bill."""

from dataclasses import dataclass

from modeling.answers import PlannedMode, Quantity
from modeling.planning import NO_EPOCH
from modeling.selectors.landscape import NO_TIMES

HOURS_A_DAY, SECONDS_A_DAY = 24, 86_400
J_PER_WH = 3600


@dataclass(frozen=True)
class WhatIf:
    """What the mode means for so many epochs, this battery and this price; None where `reason` says why.

    run_s, run_energy_kwh: of all the epochs. battery_epochs: whole epochs on one charge. day_*: of running
    without a pause. Costs are in the unit of the price.
    """

    run_s: Quantity | None
    run_energy_kwh: Quantity | None
    run_cost: Quantity | None
    epochs_a_day: Quantity | None
    battery_epochs: Quantity | None
    battery_h: Quantity | None
    day_energy_kwh: Quantity
    day_cost: Quantity | None
    reason: str


def what_if(
    *,
    mode: PlannedMode,
    epochs: float | None = None,
    battery_wh: float | None = None,
    price_per_kwh: float | None = None,
) -> WhatIf:
    """Pure arithmetic on the mode's quantities; intervals go along."""
    day = times(mode.power_mw, HOURS_A_DAY / 1e6)
    run = times(mode.epoch_energy_j, epochs and epochs / J_PER_WH / 1000)
    return WhatIf(
        run_s=times(mode.epoch_s, epochs),
        run_energy_kwh=run,
        run_cost=times(run, price_per_kwh),
        epochs_a_day=per(SECONDS_A_DAY, mode.epoch_s),
        battery_epochs=per(battery_wh and battery_wh * J_PER_WH, mode.epoch_energy_j),
        battery_h=per(battery_wh and battery_wh * 1000, mode.power_mw),
        day_energy_kwh=day,  # type: ignore[arg-type]
        day_cost=times(day, price_per_kwh),
        reason="" if mode.epoch_s else NO_EPOCH if mode.time_ms else NO_TIMES,
    )


def times(each: Quantity | None, factor: float | None) -> Quantity | None:
    if each is None or factor is None:
        return None
    low, high = (None if end is None else end * factor for end in (each.low, each.high))
    return Quantity(each.value * factor, low, high)


def per(amount: float | None, each: Quantity | None) -> Quantity | None:
    """How many of `each` the amount holds: the interval's ends change sides."""
    if amount is None or each is None:
        return None
    low, high = (None if end is None else amount / end for end in (each.high, each.low))
    return Quantity(amount / each.value, low, high)
