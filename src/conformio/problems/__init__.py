"""Forward problems: what decision makers are taken to solve."""

from conformio.problems.base import Problem
from conformio.problems.convex_program import ConvexProgram
from conformio.problems.integer_program import IntegerProgram
from conformio.problems.knapsack import Knapsack
from conformio.problems.linear_program import LinearProgram
from conformio.problems.oracle_problem import OracleProblem
from conformio.problems.shortest_path import ShortestPath
from conformio.problems.with_features import WithFeatures

__all__ = [
    "ConvexProgram",
    "IntegerProgram",
    "Knapsack",
    "LinearProgram",
    "OracleProblem",
    "Problem",
    "ShortestPath",
    "WithFeatures",
]
