"""The precision corpus: what Preflight says about public repositories at fixed commits, and what each finding was when it was read.

No code of these repositories is kept here, only where each finding stands and one line about it. ``python -m corpus run`` repeats the analysis.
"""
