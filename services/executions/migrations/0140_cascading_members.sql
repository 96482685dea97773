-- expand
-- A member of an execution group whose workflow cascades starts it on the components of its deployment when it begins
-- itself. (What a single request cascades to is stored together with its own execution.)
alter table executions add column is_cascading boolean not null default false;
