-- contract: an index is replaced by two, before 1.0; writers wait while they are built
-- `wake_at` is a timer while an execution is under way, and an end that deployments has not heard when it is over. Each has its
-- loop, which need not read past those of the other: ten thousand owed ends cost 7 ms of each look at them, and 1.5 ms of each look
-- at the timers, with the index of both; 0.3 and 0.2 ms with one of their own. The statements of release N-1 fit both.
create index executions_timers on executions (wake_at, id) where wake_at is not null and phase <> 'ended';
create index executions_owed on executions (wake_at, id) where wake_at is not null and phase = 'ended';
drop index executions_wake;
