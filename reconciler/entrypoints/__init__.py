"""Where people and programs come in: the command line. Wires nothing; asks ``bootstrap``."""
