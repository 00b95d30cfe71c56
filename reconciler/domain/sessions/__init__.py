"""Reading a conversation: windows, claims and mentions, explicit statements. Pure."""
