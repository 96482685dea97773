import { UsageFailure } from '../failure';
import { collectValues } from '../key-values';
import { type Cli, noun, type Options, option, visibilityOption } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';
import { ruleOptions, rulesOf } from '../layer/rules';

const SHOWN = {
  columns: ['id', 'labels_filter_rules', 'attrs_filter_rules', 'visibility', 'created_at'],
  wide: ['is_system_filter', 'created_by', 'tenant_name', 'updated_at'],
};
const rules = () => [
  ...ruleOptions(),
  option('--rules <file>', 'YAML file with a list below `filter_rules`'),
];

/** Stored filters: those of blueprints and those of deployments. */
export function filterCommands(cli: Cli): void {
  blueprintFilters(cli);
  deploymentFilters(cli);
}

function blueprintFilters(cli: Cli): void {
  const filters = noun(cli, 'blueprint-filters', {
    alias: 'blueprint-filter',
    about: 'stored filters of blueprints',
    examples: ['blueprint-filters create mine --attrs-rule "created_by=alice"'],
  });
  listCommand(cli, filters, { ...SHOWN, operation: 'listBlueprintFilters', about: 'list filters' });
  getCommand(cli, filters, {
    ...SHOWN,
    operation: 'getBlueprintFilter',
    param: 'filter_id',
    about: 'show a filter',
  });
  callCommand(cli, filters, {
    name: 'create <id>',
    about: 'store a filter',
    operation: 'putBlueprintFilter',
    options: [...rules(), visibilityOption('tenant')],
    request: ([filter_id], o) => ({
      params: { filter_id },
      body: { filter_rules: givenRules(o), visibility: o.visibility },
    }),
    done: ([id]) => `Filter ${id} stored.`,
  });
  callCommand(cli, filters, {
    name: 'update <id>',
    about: 'change rules or visibility of a filter',
    operation: 'patchBlueprintFilter',
    options: [...rules(), visibilityOption()],
    request: ([filter_id], o) => ({ params: { filter_id }, body: changeOf(o) }),
    done: ([id]) => `Filter ${id} changed.`,
  });
  deleteCommand(cli, filters, {
    operation: 'deleteBlueprintFilter',
    param: 'filter_id',
    about: 'delete a filter',
    kind: 'Filter',
  });
}

function deploymentFilters(cli: Cli): void {
  const filters = noun(cli, 'deployment-filters', {
    alias: 'filters',
    about: 'stored filters of deployments',
    examples: [
      'deployment-filters create production --labels-rule env=prod',
      'deployments list --filter-id production',
    ],
  });
  listCommand(cli, filters, { ...SHOWN, operation: 'listDeploymentFilters', about: 'list filters' });
  getCommand(cli, filters, {
    ...SHOWN,
    operation: 'getDeploymentFilter',
    param: 'id',
    about: 'show a filter',
  });
  callCommand(cli, filters, {
    name: 'create <id>',
    about: 'store a filter',
    operation: 'createDeploymentFilter',
    options: [...rules(), visibilityOption('tenant')],
    request: ([id], o) => ({
      params: { id },
      body: { filter_rules: givenRules(o), visibility: o.visibility },
    }),
    done: ([id]) => `Filter ${id} stored.`,
  });
  callCommand(cli, filters, {
    name: 'update <id>',
    about: 'change rules or visibility of a filter',
    operation: 'updateDeploymentFilter',
    options: [...rules(), visibilityOption()],
    request: ([id], o) => ({ params: { id }, body: changeOf(o) }),
    done: ([id]) => `Filter ${id} changed.`,
  });
  deleteCommand(cli, filters, {
    operation: 'deleteDeploymentFilter',
    param: 'id',
    about: 'delete a filter',
    kind: 'Filter',
  });
}

/** Rules from options, or from a file. @throws UsageFailure when there are none */
function givenRules(options: Options): any[] {
  const given = rulesOf(options);
  if (options.rules === undefined) {
    if (given.length === 0) throw new UsageFailure('give --labels-rule, --attrs-rule or --rules');
    return given;
  }
  const { filter_rules } = collectValues([options.rules]);
  if (!Array.isArray(filter_rules))
    throw new UsageFailure(`${options.rules}: expected a list below filter_rules`);
  return [...filter_rules, ...given];
}

function changeOf(options: Options) {
  const hasRules = rulesOf(options).length > 0 || options.rules !== undefined;
  if (!hasRules && options.visibility === undefined)
    throw new UsageFailure('give --labels-rule, --attrs-rule, --rules or --visibility');
  return { ...(hasRules ? { filter_rules: givenRules(options) } : {}), visibility: options.visibility };
}
