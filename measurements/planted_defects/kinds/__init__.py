"""Nine kinds of defect, a file each: the forms they take, and how each is planted."""

from __future__ import annotations

from measurements.planted_defects.forms import Form
from measurements.planted_defects.kinds import (
    dangling_reference,
    duplicate_request,
    leaked_tool_name,
    missing_argument,
    swapped_link,
    unknown_tool,
    unknown_value,
    wrong_slot,
    wrong_type,
)

FORMS: tuple[Form, ...] = (
    *unknown_tool.FORMS,
    *wrong_type.FORMS,
    *dangling_reference.FORMS,
    *unknown_value.FORMS,
    *leaked_tool_name.FORMS,
    *missing_argument.FORMS,
    *swapped_link.FORMS,
    *duplicate_request.FORMS,
    *wrong_slot.FORMS,
)
