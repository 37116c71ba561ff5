"""A model invents a goal around sampled tools, plans it, sees it carried out, and words the request."""
