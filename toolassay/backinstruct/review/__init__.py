"""What a review of a plan concludes, read from its words; in doubt nothing."""

from toolassay.backinstruct.review.verdict import Review, TeacherVerdict, read_review

__all__ = ["Review", "TeacherVerdict", "read_review"]
