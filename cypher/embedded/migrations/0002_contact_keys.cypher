// No change: here a contact's facts and decisions lie together, and no index is needed. Both engines count
// the same versions, so that a store can be moved from one to the other.
