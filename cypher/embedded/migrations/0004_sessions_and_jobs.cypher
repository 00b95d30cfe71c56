// Sessions that are read in the background: their turns' places, their jobs, and tasks' memories.
ALTER TABLE Session ADD IF NOT EXISTS summary STRING;
ALTER TABLE Session ADD IF NOT EXISTS added INT64;
ALTER TABLE Session ADD IF NOT EXISTS superseding INT64;
ALTER TABLE Session ADD IF NOT EXISTS known INT64;
ALTER TABLE Session ADD IF NOT EXISTS held INT64;
ALTER TABLE Session ADD IF NOT EXISTS refused INT64;
ALTER TABLE Session ADD IF NOT EXISTS left_out INT64;
ALTER TABLE Episode ADD IF NOT EXISTS role STRING;
ALTER TABLE Episode ADD IF NOT EXISTS position INT64;
ALTER TABLE Episode ADD IF NOT EXISTS job_id STRING;
ALTER TABLE Episode ADD IF NOT EXISTS is_cleaned BOOLEAN;
CREATE NODE TABLE IF NOT EXISTS Job(
  job_id STRING PRIMARY KEY, name STRING, tenant STRING, agent_id STRING, contact_id STRING,
  session_id STRING, state STRING, attempts INT64, submitted_at TIMESTAMP, due_at TIMESTAMP,
  finished_at TIMESTAMP, locked_by STRING, leased_by STRING, extractor STRING, last_error STRING,
  proposals STRING, summary STRING, added INT64, superseding INT64, known INT64, held INT64,
  refused INT64, left_out INT64);
CREATE NODE TABLE IF NOT EXISTS Task(
  task_key STRING PRIMARY KEY, task_id STRING, name STRING, goal STRING, state STRING,
  session_id STRING, done STRING[], decided STRING[], blocker STRING, started_at TIMESTAMP,
  changed_at TIMESTAMP);
CREATE REL TABLE IF NOT EXISTS READS(FROM Job TO Session);
CREATE REL TABLE IF NOT EXISTS PART_OF(FROM Session TO Task);
CREATE REL TABLE IF NOT EXISTS CONCERNS(FROM Task TO Contact);
