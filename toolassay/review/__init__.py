"""Human review of gold plans: a local web page, sheets, agreement, conflicts, and the reviewed data set."""
