"""What the studies show, against what the paper claims: numbers, rules, verdicts."""
