import { UsageFailure } from '../failure';
import { collectValues } from '../key-values';
import { type Cli, command, noun, option, repeated } from '../layer/define';
import { getCommand, listCommand } from '../layer/resource';
import { instanceFileCommands } from './instance-files';

const NODE = {
  columns: ['id', 'deployment_id', 'type', 'host_id', 'number_of_instances', 'planned_number_of_instances'],
  wide: ['blueprint_id', 'drifted_instances', 'unavailable_instances', 'created_by', 'tenant_name'],
};
const INSTANCE = {
  columns: ['id', 'node_id', 'deployment_id', 'host_id', 'state', 'version'],
  wide: ['index', 'is_status_check_ok', 'has_configuration_drift', 'created_by', 'tenant_name'],
};

export function nodeCommands(cli: Cli): void {
  const nodes = noun(cli, 'nodes', {
    alias: 'node',
    about: 'nodes of deployments',
    examples: ['nodes list -d hello'],
  });
  const ofDeployment = {
    flags: '-d, --deployment <id>',
    about: 'of this deployment',
    field: 'deployment_id',
    key: 'deployment',
  };
  listCommand(cli, nodes, { ...NODE, operation: 'listNodes', about: 'list nodes', fields: [ofDeployment] });
  const instances = noun(cli, 'node-instances', {
    alias: 'node-instance',
    about: 'instances of nodes',
    examples: ['node-instances list -d hello', 'node-instances get web_x1y2z3 -o yaml'],
  });
  listCommand(cli, instances, {
    ...INSTANCE,
    operation: 'listNodeInstances',
    about: 'list node instances',
    fields: [
      ofDeployment,
      { flags: '-n, --node <id>', about: 'of this node', field: 'node_id', key: 'node' },
    ],
  });
  getCommand(cli, instances, {
    ...INSTANCE,
    operation: 'getNodeInstance',
    param: 'id',
    about: 'show a node instance',
    more: ['runtime_properties', 'relationships'],
    options: [option('--evaluate', 'with intrinsic functions evaluated')],
    queryOf: ({ evaluate }) => ({ _evaluate_functions: evaluate }),
  });
  command(cli, instances, {
    name: 'update <id>',
    about: 'write runtime properties or the state; what another wrote meanwhile is refused',
    uses: ['getNodeInstance', 'patchNodeInstance'],
    options: [
      repeated('--set <name=value|file>', 'runtime property, or a YAML file of them'),
      repeated('--unset <name>', 'runtime property that goes'),
      option('--state <state>', 'state'),
    ],
    run: async ({ args: [id], options, client, out }) => {
      if (options.set.length + options.unset.length === 0 && options.state === undefined)
        throw new UsageFailure('give --set, --unset or --state');
      const { version, runtime_properties } = await client.call('getNodeInstance', { params: { id } });
      const properties: Record<string, unknown> = { ...runtime_properties, ...collectValues(options.set) };
      for (const name of options.unset as string[]) delete properties[name];
      const instance = await client.call('patchNodeInstance', {
        params: { id },
        body: { version: version!, runtime_properties: properties, state: options.state },
      });
      out.done(`Node instance ${id} written.`, instance);
    },
  });
  instanceFileCommands(cli, instances);
}
