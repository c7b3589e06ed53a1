"""Made-up results over seeds, which show what a study would if a claim held or failed."""

from conformio.studies.table1 import POLICIES, SIZES, closed_forms

CONDITION = {
    "problem": "shortest path",
    "estimator": "sub-optimality",
    "domain": "nonnegative",
    "law": "uniform [1, 10]",
    "budgets": None,
}
KNAPSACK = {**CONDITION, "problem": "knapsack", "domain": "free", "budgets": "1/5 to 4/5"}
FENCHEL = {"estimator": "Fenchel-Young"}


def spread(**values):
    """Columns of a summary whose seeds all agree."""
    found = {"n": 3}
    for name, value in values.items():
        found |= {
            name: value,
            f"{name}_low": value,
            f"{name}_high": value,
            f"{name}_sd": None if value is None else 0.0,
        }
    return found


def table1_rows(which=1, angle=0.0, **changes):
    """Gaps as derived in the paper (`which` 0) or corrected (1); `changes` are factors by policy."""
    kinds = dict(zip(POLICIES, ("classic", "robust optimum", "robust optimum", "best vertex"), strict=True))
    rows = []
    for u in SIZES:
        for policy, kind in kinds.items():
            factor = changes.get(kind.replace(" ", "_"), 1.0)
            aog, pog = (factor * closed_forms(u)[kind][gap][which] for gap in ("aog", "pog"))
            numbers = spread(estimate_error=0.0, calibrated_angle=angle, aog=aog, pog=pog)
            rows.append({"u": u, "policy": policy, **numbers})
    return rows


def validity_rows(condition, coverage, angle=lambda level: 1.0, deviation=lambda n: 1.0 / n, **changes):
    """Coverage as a function of level at N = 50, 100, 200."""
    rows = []
    for size in (50, 100, 200):
        for level in (0.3, 0.5, 0.9):
            numbers = {
                "angle_degrees": angle(level),
                "coverage": coverage(level),
                "deviation": deviation(size),
                "below_band": 0.0,
                "above_band": 0.0,
                "band_low": max(level - 0.1, 0.0),
                "band_high": min(level + 0.1, 1.0),
                "tie_mass": 1 / size,
                "zero_share": 0.0,
                "theta_inside": 0.1,
            }
            labels = {**condition, "n_calibration": size, "n_test": 1000, "level": level}
            rows.append({**labels, **spread(**{**numbers, **changes})})
    return rows


LEVELS = (0.0, 0.1, 0.5, 0.7, 0.9, 0.95, 0.99)


def robustness_rows(condition, aog_gain, pog_gain, relaxed=1.1, zero_share=0.85, cycle_share=None, ties=None):
    """Classic gaps of 1, times `ties` for the other rules; conformal ones by the functions of the level."""
    shared = {"zero_share": zero_share, "negative_params": 0}
    rows = []
    for rule in ("uniform", "solver's vertex", "fewest ones", "alpha -> 0+"):
        gap = (ties or {}).get(rule, 1.0)
        numbers = spread(**shared, angle_degrees=None, aog=gap, pog=gap, adherence=0.5, cycle_share=cycle_share)
        more = spread(uncounted_ties=0.0 if rule == "uniform" else None, aog_gain=1.0 - gap, pog_gain=1.0 - gap)
        rows.append({**condition, "policy": "classic", "ties": rule, "level": None, **numbers, **more})
    for policy, levels, worse in (("conformal", LEVELS, 1.0), ("conformal, relaxed", (0.5, 0.9), relaxed)):
        for level in levels if policy == "conformal" or condition["problem"] == "shortest path" else ():
            aog, pog = (worse * (1.0 - gain(level)) for gain in (aog_gain, pog_gain))
            numbers = spread(**shared, angle_degrees=1.0, aog=aog, pog=pog, adherence=0.5, cycle_share=cycle_share)
            more = spread(uncounted_ties=None, aog_gain=1.0 - aog, pog_gain=1.0 - pog)
            rows.append({**condition, "policy": policy, "ties": None, "level": level, **numbers, **more})
    return rows


def paper_like(condition, **changes):
    """Gains in the middle of the paper's bands, from half of that at level 0."""
    aog, pog = (0.25, 0.2) if condition["problem"] == "shortest path" else (0.5, 0.17)

    def rising(full):
        return lambda level: full * (0.6 + 0.4 * min(2.0 * level, 1.0))

    return robustness_rows(condition, rising(aog), rising(pog), **changes)


def timing_rows(condition, train=(1.0, 1.5), single=(0.01, 0.63), batch=(0.01, 0.3)):
    numbers = dict(zip(("train_classic", "train_conformal"), train, strict=True))
    numbers |= dict(zip(("nominal_single", "robust_single"), single, strict=True))
    numbers |= dict(zip(("nominal_batch", "robust_batch"), batch, strict=True))
    labels = {**condition, "machine": "a machine", "python": "3.12", "conformio": "0"}
    return [{**labels, **spread(**numbers, angle_degrees=1.0, load_average=None)}]


def split_rows(condition, gain, classic=lambda total: 1.0):
    """Conformal gaps by a function of total and share."""
    rows = []
    for total in (160, 320, 480, 640, 800):
        for share in (0.2, 0.4, 0.6, 0.8):
            for level in (0.5, 0.9):
                base = classic(total)
                gap, gained = base * (1.0 - gain(total, share)), gain(total, share)
                numbers = spread(classic_aog=base, classic_pog=base, aog=gap, pog=gap, aog_gain=gained, pog_gain=gained)
                rows.append({**condition, "total": total, "share": share, "level": level, **numbers})
    return rows


def ablation_rows(condition, gaps=(1.0, 1.1, 1.0, 0.7), rival=0.7, coverage=0.9, inside=0.1):
    """Gaps of the four steps and of the rival."""
    steps = ("classic, ties uniform", "less training data, ties uniform", "less training data, alpha -> 0+")
    found = [(step, None, gap) for step, gap in zip(steps, gaps, strict=False)]
    found += [("conformal", 0.5, gaps[3]), ("conformal", 0.9, gaps[3])]
    found += [("classic estimate, alpha -> 0+", None, gaps[0]), ("angle by cross-validated adherence", None, rival)]
    rows = []
    for step, level, gap in found:
        shares = (None, None) if level is None else (coverage, inside)
        numbers = spread(angle_degrees=1.0, aog=gap, pog=gap, adherence=0.5, coverage=shares[0], theta_inside=shares[1])
        rows.append({**condition, "step": step, "level": level, **numbers})
    return rows
