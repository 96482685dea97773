-- contract: an index on a large table, before 1.0; writers wait while it is built
-- Node instances that have drifted, which are few: they are found here instead of in all rows. Nothing is written for the
-- others, and states change within their page as before: only what begins or ceases to drift touches it.
create index node_instances_drifted on node_instances (id, tenant) include (visibility, private_to) where has_configuration_drift;
