-- contract: no statement of the release before reads by the dropped index
-- Nothing reads tasks by version, and an index over it makes every change of a task rewrite all of its indexes.
drop index if exists tasks_changed;
