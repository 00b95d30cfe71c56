// No change: here properties need no schema. A contact that was merged into another has absorbed_into, the id of
// that one, and that one has absorbed, the ids of all that it absorbed.
