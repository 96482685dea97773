-- expand
-- What the upload asked for, kept as it was: the row's own columns follow the blueprint.
alter table blueprints add column requested_main_file text not null default '';
alter table blueprints add column upload_visibility text;
-- Whether imports may reach private resources of others.
alter table blueprints add column is_by_administrator boolean not null default false;
