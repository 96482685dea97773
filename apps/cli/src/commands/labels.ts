import { type Cli, noun } from '../layer/define';
import { listCommand } from '../layer/resource';

const asRow = (name: string) => (item: unknown) => ({ [name]: item });

/** Which labels blueprints and deployments have. A label is set by `blueprints update`, `deployments set` and `create`. */
export function labelCommands(cli: Cli): void {
  const labels = noun(cli, 'labels', {
    alias: 'label',
    about: 'keys and values of labels that are in use',
    examples: ['labels deployments', 'labels deployment-values env', 'labels blueprints -o name'],
  });
  for (const [name, operation] of [
    ['blueprints', 'listBlueprintLabelKeys'],
    ['deployments', 'listDeploymentLabelKeys'],
  ] as const) {
    listCommand(cli, labels, {
      columns: ['key'],
      name: 'key',
      operation,
      command: name,
      about: `list the label keys of ${name}`,
      row: asRow('key'),
    });
    listCommand(cli, labels, {
      columns: ['key'],
      name: 'key',
      operation,
      command: `reserved-of-${name}`,
      about: `list the label keys of ${name} that Baton itself gives a meaning`,
      query: { _reserved: true },
      row: asRow('key'),
    });
  }
  listCommand(cli, labels, {
    columns: ['value'],
    name: 'value',
    operation: 'listBlueprintLabelValues',
    command: 'blueprint-values <key>',
    param: 'label_key',
    about: 'list the values of a label key of blueprints',
    row: asRow('value'),
  });
  listCommand(cli, labels, {
    columns: ['value'],
    name: 'value',
    operation: 'listDeploymentLabelValues',
    command: 'deployment-values <key>',
    param: 'key',
    about: 'list the values of a label key of deployments',
    row: asRow('value'),
  });
}
