-- expand
-- Address of the agent that alone may run the operation, `tenant/node instance`; null: a worker of the manager runs it.
-- It repeats a field of `spec`, because agents look for their operations over all executions.
alter table tasks add column agent text;
