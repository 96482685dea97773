-- contract: an index on a large table, before 1.0; writers wait while it is built
-- The order of the list of nodes without _sort: its pages are walked here instead of sorting all nodes there are.
create index nodes_by_id on nodes (id, deployment_key);
