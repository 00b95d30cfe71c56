// The property needs no statement here.
