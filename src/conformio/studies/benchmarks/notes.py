"""What the numbers do not say by themselves: closes the page of results."""

__all__ = ["NOTES"]

NOTES = """## Notes

**Training and its baseline.** The multi-cut program is timed twice. With its forward programs solved in HiGHS too, as
the formulation is printed, most of its time goes into them. With this library's compiled searches as its forward
solver, what is left on both sides is a handful of linear programs of some hundred variables in HiGHS, and about as many
rounds: two thirds of our own time is spent inside HiGHS. That is what limits the second line; a tenfold gain over that
baseline would need another solver for these small programs.

**InvOpt.** Its programs for whole decisions need a Gurobi licence; without one its first-order method remains. It
ends above the loss that the cutting planes prove to be least, however many passes it is given here; the losses stand in
the table. The target is judged at the most passes, where it comes nearest.

**PyEPO** runs in a process of its own together with ours, because OR-Tools and highspy each bring a HiGHS and cannot be
loaded side by side. It knows one trip on a one-way grid, so both sides train on that.

**Cutting planes for robust baskets.** The mixed-integer master does not finish on a thousand items. It is stopped by a
clock, so the ratio is a lower bound; its bounds enclose our value.

**Angles on the paper's grid.** The baseline is posed around shortest-path potentials and in units of what the trip
loses, which makes it several times faster than the programs of `method="reference"`. The line without a target leaves
out the programs of trips that a search shows to be optimal.

**Growth of angles of baskets.** They are cutting planes, one knapsack a round, and the number of rounds grows faster
than the number of items. With a thousand items an angle takes seconds; the curve ends at three hundred.

**Compilation of a cold demo** is the time that numba and LLVM take to translate the loops that the demo calls, one
after the other on one core; the loops for angles in potentials and for robust routes are the largest. Nothing of it is
left in later runs, which read the loops from a cache.

**Seconds and processes.** Times of interpreters (imports, commands, the cold demo) include their start and the reading
of files from disk.
"""
