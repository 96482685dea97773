-- expand, without transaction
create unique index concurrently if not exists agents_by_id on agents (id);
