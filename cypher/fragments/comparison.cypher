// A fact that a decision was compared with, with its constant properties.
decision.decision_id AS decision_id, fact.fact_id AS fact_id, compared.cosine AS cosine,
compared.rank AS rank, fact.text AS text, fact.valid_from AS valid_from,
fact.trust AS trust, fact.subject AS subject, fact.attribute AS attribute,
fact.value AS value, fact.value_key AS value_key, fact.is_single_valued AS is_single_valued,
fact.is_known AS is_known, fact.is_personal AS is_personal,
fact.category AS category
