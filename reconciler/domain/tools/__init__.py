"""Tools that a model may call: their schemas, their arguments and their replies. Pure."""
