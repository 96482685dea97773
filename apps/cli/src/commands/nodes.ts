import type { Command } from 'commander';
import { collect } from '../collect';
import { sessionOf } from '../session';

const NODE = ['id', 'deployment_id', 'type', 'host_id', 'number_of_instances', 'planned_number_of_instances'];
const INSTANCE = ['id', 'node_id', 'deployment_id', 'host_id', 'state', 'version'];

export function nodeCommands(program: Command): void {
  const nodes = program.command('nodes').alias('node').description('nodes of deployments');
  nodes
    .command('list')
    .option('-d, --deployment <id>', 'deployment')
    .description('list nodes')
    .action(async (options, command: Command) => {
      const { client, out } = sessionOf(command);
      const query = { _include: NODE.join(','), deployment_id: options.deployment };
      out.table(await collect(client.all('listNodes', { query })), NODE);
    });
  const instances = program
    .command('node-instances')
    .alias('node-instance')
    .description('instances of nodes');
  instances
    .command('list')
    .option('-d, --deployment <id>', 'deployment')
    .option('-n, --node <id>', 'node')
    .description('list node instances')
    .action(async (options, command: Command) => {
      const { client, out } = sessionOf(command);
      const query = {
        _include: INSTANCE.join(','),
        deployment_id: options.deployment,
        node_id: options.node,
      };
      out.table(await collect(client.all('listNodeInstances', { query })), INSTANCE);
    });
  instances
    .command('get <id>')
    .description('show a node instance')
    .action(async (id: string, _options, command: Command) => {
      const { client, out } = sessionOf(command);
      const instance = await client.call('getNodeInstance', { params: { id } });
      out.record(instance as object, [...INSTANCE, 'runtime_properties', 'relationships']);
    });
}
