-- expand
-- Most deployments are small, whatever share of all nodes a few large ones have: without this, where a handful of them has
-- a thousand instances each, every read of a small one is planned as one of a thousand, and reads the whole table.
alter table node_instances alter column deployment_key set (n_distinct = -0.1);
