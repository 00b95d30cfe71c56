"""This project side by side with five other memory systems, each the real package.

The same notes go to every system, with the same vectors, into a store of the kind that it is made
for. Each runs in processes of its own, in a virtual environment that is made once under the user's
cache folder from the versions pinned beside this file. Answers of the chat model are those of
``answers``; vectors are all-MiniLM-L6-v2's, and every system fetches them from one loopback server.

Measured are: a write over what it cannot do without (an embedding as the system fetches it, and a
bare insert into the same kind of store), medians of 300, taken in turn; how many of these 300
different notes about one contact are live afterwards; how many live copies there are after sixteen
identical writers at once, five rounds; how many of twenty notes are gone whose writer was killed as
soon as the call had returned; and what 20,000 facts of others make of the whole cost of a write, in
turn with a store that has none.

PEERS=mem0,langgraph       only some systems, by the keys in ``systems``
PEERS_COLUMNS=copies,lost  only some columns: latency, copies, lost, background, growth
PEERS_JSON=results.json    write the figures there
PEERS_PICTURE=peers.png    draw the picture there; docs/peers.png where all systems were measured
"""
