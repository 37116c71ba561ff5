"""People look at gold plans: a page on loopback, sheets, agreement, conflicts, and the set it leaves."""
