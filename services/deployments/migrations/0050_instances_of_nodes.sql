-- contract: indexes are replaced by wider ones of the same name, before 1.0; writers wait meanwhile
-- Instances by node: the filter and sort by node, and counts by node and index, are read here instead of from the rows, which
-- are six times as wide. None of the columns changes while an execution runs, so updates of states stay within their page.
-- Takes about five seconds for 1,000,000 instances, in which none can be written.
create index node_instances_of_node on node_instances (node_id, index, id, tenant) include (visibility, private_to, host_id);
create index node_instances_on_host on node_instances (host_id, id) where host_id is not null;
-- What decides who sees a row lies in the index as well: counts by deployment look at no row.
create index node_instances_in_deployment on node_instances (deployment_key, node_id, index) include (tenant, visibility, private_to);
drop index node_instances_of_deployment;
alter index node_instances_in_deployment rename to node_instances_of_deployment;
