"""The critic: a model that reviews a request and its gold plan, independent of the model that wrote them."""

from toolassay.gates.critic.prompt import critic_prompt, critique_of, template
from toolassay.gates.critic.review_run import NOT_FOR_IT, CriticVerdict, CriticWork

__all__ = ["NOT_FOR_IT", "CriticVerdict", "CriticWork", "critic_prompt", "critique_of", "template"]
