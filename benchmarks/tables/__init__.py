"""What was measured as tables with verdicts; one module for each paper, with the paper's figures and the rules.

Each has a function ``tables(found)``. `found` is what the measurement of that name gives, as JSON holds it: keys are
text, and what is missing is None or not there.
"""
