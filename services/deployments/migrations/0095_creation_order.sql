-- contract: tables are written anew in their order, before 1.0; everybody waits meanwhile
-- Lists of nodes and node instances without _sort come in the order in which these were made, as all other lists do
-- (reference/rest-api.md 3.2 note 2): a number for each, which never changes, and an index in its order that pages are walked
-- in without a look at the rows. What is there already is numbered by deployment, then by node and index. Both tables are
-- written anew for that, about 15 seconds for 1,000,000 instances, in which none can be read or written; until the next
-- vacuum of the tables, deep pages look at the rows that they skip.
create index nodes_numbered on nodes (deployment_key, position, id);
cluster nodes using nodes_numbered;
drop index nodes_numbered;
alter table nodes add column seq bigint generated always as identity;
create unique index nodes_in_order on nodes (seq) include (deployment_key);
create index nodes_by_id_in_order on nodes (id, seq) include (deployment_key);
drop index nodes_by_id;
alter index nodes_by_id_in_order rename to nodes_by_id;

cluster node_instances using node_instances_of_deployment;
alter table node_instances add column seq bigint generated always as identity;
create unique index node_instances_in_order on node_instances (seq) include (tenant, visibility, private_to);

-- Instances of a node in that order, and those of a deployment without a look at the rows.
create index node_instances_of_node_in_order on node_instances (node_id, seq) include (id, tenant, visibility, private_to, index, host_id);
drop index node_instances_of_node;
alter index node_instances_of_node_in_order rename to node_instances_of_node;
create index node_instances_in_deployment on node_instances (deployment_key, node_id, index) include (tenant, visibility, private_to, seq);
drop index node_instances_of_deployment;
alter index node_instances_in_deployment rename to node_instances_of_deployment;
