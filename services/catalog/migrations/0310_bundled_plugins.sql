-- expand
-- A package that comes with Baton: a manager that has only such ones was not used yet, and takes a snapshot.
alter table plugins add column is_bundled boolean not null default false;
