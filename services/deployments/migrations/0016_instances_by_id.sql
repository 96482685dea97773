-- contract: the primary key keeps its columns in another order, before 1.0; writers wait meanwhile
-- Pages deep in the list of node instances: what decides who sees a row lies in the index that gives the order, so that
-- skipping costs no look at the rows. Takes about two seconds for 1,000,000 instances, in which none can be written.
alter table agents drop constraint agents_node_instance_id_tenant_fkey;
alter table node_instances drop constraint node_instances_pkey;
alter table node_instances add primary key (id, tenant) include (visibility, private_to);
alter table agents add foreign key (node_instance_id, tenant) references node_instances (id, tenant) on delete cascade;
