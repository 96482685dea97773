-- expand
-- What an update changes, with the values before and after (domain/update-changes.ts). Null: a release before this one prepared
-- the update, or nobody has yet.
alter table deployment_updates add column changes json;
