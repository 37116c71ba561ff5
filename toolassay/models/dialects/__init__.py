"""The dialects: Chat Completions, Responses and Messages."""

from toolassay.models.dialects.chat import CHAT
from toolassay.models.dialects.messages import MESSAGES
from toolassay.models.dialects.responses import RESPONSES

DIALECTS = {"chat": CHAT, "responses": RESPONSES, "messages": MESSAGES}
