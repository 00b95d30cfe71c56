// Sessions that are read in the background: their jobs, the keys of both, and tasks' memories.
CREATE CONSTRAINT job_id IF NOT EXISTS FOR (job:Job) REQUIRE job.job_id IS UNIQUE;
CREATE CONSTRAINT task_key IF NOT EXISTS FOR (task:Task) REQUIRE task.task_key IS UNIQUE;
CREATE INDEX job_due IF NOT EXISTS FOR (job:Job) ON (job.state, job.due_at);
