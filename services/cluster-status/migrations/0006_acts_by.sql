-- expand
-- By which state of the manager a process acts, where it acts by one: a restore waits until every gateway refuses writes.
alter table instances add column acts_by text not null default '';
