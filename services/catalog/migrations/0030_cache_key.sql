-- expand
-- Seals what catalogs put into the cache that others share: only whoever reads this table can make a text they believe. 244
-- random bits of the server's strong generator.
create table cache_key (
  is_only boolean primary key default true check (is_only),
  key bytea not null default decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex')
);
insert into cache_key default values;
