"""What is read out of a conversation: windows, claims and mentions, explicit statements. Pure."""
