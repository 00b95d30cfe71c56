// The supersessions among a contact's facts, with their reasons. Stores of the first schema do not say
// whether one was a restatement; there the rule tells.
// mode: read
MATCH (contact:Contact {contact_key: $contact_key})<-[about:ABOUT]-(new:Fact)
      -[supersedes:SUPERSEDES]->(old:Fact)
// embedded: join contact, about, new, supersedes, old
RETURN new.fact_id AS new_id, old.fact_id AS old_id, supersedes.cosine AS cosine,
       supersedes.decided_by AS decided_by, supersedes.reason AS reason, supersedes.at AS at,
       supersedes.is_restatement AS is_restatement
