"""Values in a text: days, amounts, addresses, places, and the attribute that they answer."""
