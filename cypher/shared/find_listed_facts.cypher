// Facts by their ids, of any contact: another query has listed them. Few columns go through its sort.
// mode: read
UNWIND $fact_ids AS wanted_id
MATCH (fact:Fact {fact_id: wanted_id})
RETURN
       // include: fact
