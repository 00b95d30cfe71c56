"""Tools that a model may call: their schemas, their arguments, the words of their replies. Pure."""
