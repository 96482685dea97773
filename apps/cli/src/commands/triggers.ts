import type { Command } from 'commander';
import { collectTexts, collectValues } from '../key-values';
import { type Cli, noun, number, type Options, option, repeated, required } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';

const TRIGGERS = {
  columns: ['id', 'deployment_id', 'workflow_id', 'scheme', 'is_enabled', 'path', 'created_by'],
  wide: [
    'parameters',
    'fixed_parameters',
    'former_secret_until',
    'last_call_at',
    'last_execution_id',
    'created_at',
  ],
};

/** `baton triggers ...`: signed requests from outside that start a workflow. */
export function triggerCommands(cli: Cli): void {
  const triggers = noun(cli, 'triggers', {
    alias: 'trigger',
    about: 'signed requests from outside that start a workflow',
    examples: [
      'triggers create on-push -d web -w update --scheme github --from commit=/head_commit/id',
      'triggers list -o wide',
    ],
  });
  listCommand(cli, triggers, {
    ...TRIGGERS,
    operation: 'listTriggers',
    about: 'list your triggers; managers of the tenant see all',
  });
  getCommand(cli, triggers, {
    ...TRIGGERS,
    operation: 'getTrigger',
    param: 'trigger_id',
    about: 'show a trigger without its secret',
  });
  writeCommands(cli, triggers);
  deleteCommand(cli, triggers, {
    operation: 'deleteTrigger',
    param: 'trigger_id',
    about: 'delete a trigger; its path answers nobody any more',
    kind: 'Trigger',
  });
}

const settings = () => [
  repeated('--from <parameter=pointer>', 'parameter that the body gives, by a JSON pointer'),
  repeated('-p, --parameters <name=value|file>', 'fixed parameters'),
];

const settingsOf = ({ deployment, workflow, from, parameters }: Options) => ({
  ...(deployment !== undefined && { deployment_id: deployment }),
  ...(workflow !== undefined && { workflow_id: workflow }),
  ...(from.length > 0 && { parameters: collectTexts('--from', from) }),
  ...(parameters.length > 0 && { fixed_parameters: collectValues(parameters) }),
});

function writeCommands(cli: Cli, triggers: Command): void {
  callCommand(cli, triggers, {
    name: 'create <id>',
    about: 'create a trigger; its path and its secret are shown',
    operation: 'createTrigger',
    options: [
      required('-d, --deployment <id>', 'deployment'),
      required('-w, --workflow <name>', 'workflow that it starts'),
      option('--scheme <scheme>', 'how requests are signed: standard or github'),
      ...settings(),
    ],
    request: ([trigger_id], o) => ({
      params: { trigger_id },
      body: { scheme: o.scheme, ...settingsOf(o) } as never,
    }),
    fields: [...TRIGGERS.columns, 'secret'],
  });
  callCommand(cli, triggers, {
    name: 'update <id>',
    about: 'change a trigger of yours; what is not named stays',
    operation: 'updateTrigger',
    options: [
      option('-d, --deployment <id>', 'deployment'),
      option('-w, --workflow <name>', 'workflow that it starts'),
      ...settings(),
    ],
    request: ([trigger_id], o) => ({ params: { trigger_id }, body: settingsOf(o) as never }),
    done: ([id]) => `Trigger ${id} changed.`,
  });
  for (const [action, isEnabled, about] of [
    ['enable', true, 'take requests again'],
    ['disable', false, 'refuse requests until it is enabled'],
  ] as const)
    callCommand(cli, triggers, {
      name: `${action} <id>`,
      about,
      operation: 'updateTrigger',
      request: ([trigger_id]) => ({ params: { trigger_id }, body: { is_enabled: isEnabled } }),
      done: ([id]) => `Trigger ${id} is ${action}d.`,
    });
  callCommand(cli, triggers, {
    name: 'rotate <id>',
    about: 'make a new secret for a trigger of yours, which is shown this once',
    operation: 'rotateTrigger',
    options: [number('--overlap <seconds>', 'how long both secrets are valid', 86_400)],
    request: ([trigger_id], o) => ({ params: { trigger_id }, body: { overlap_s: o.overlap } }),
    fields: ['id', 'path', 'secret', 'former_secret_until'],
  });
}
