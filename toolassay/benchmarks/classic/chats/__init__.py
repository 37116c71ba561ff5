"""A data set from a team's own chats: sampled and masked, annotated in workbooks, merged, laid out for the
hub.
"""
