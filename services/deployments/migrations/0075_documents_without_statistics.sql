-- expand
-- Nothing is looked up by the content of these documents; statistics of them (30,000 values sorted for each) were half of
-- what reading the statistics of node instances costs.
alter table node_instances alter relationships set statistics 0, alter runtime_properties set statistics 0,
  alter scaling_groups set statistics 0, alter system_properties set statistics 0;
alter table nodes alter definition set statistics 0, alter properties set statistics 0;
alter table deployment_plans alter model set statistics 0, alter inputs set statistics 0, alter outputs set statistics 0,
  alter capabilities set statistics 0, alter scaling_groups set statistics 0;
