import type { OperationArgs, OperationId } from '@baton/client';
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

interface NewFilter {
  filter_rules: unknown[];
  visibility?: 'private' | 'tenant' | 'global';
}

/** The operations of one kind of filters. The paths name a filter by different parameters. */
interface FilterKind<Create extends OperationId, Update extends OperationId> {
  noun: string;
  alias: string;
  about: string;
  examples: readonly string[];
  param: 'id' | 'filter_id';
  list: OperationId;
  get: OperationId;
  delete: OperationId;
  create: Write<Create, NewFilter>;
  update: Write<Update, Partial<NewFilter>>;
}

interface Write<Id extends OperationId, Body> {
  operation: Id;
  request: (id: string, body: Body) => Omit<OperationArgs<Id>, 'idempotencyKey'>;
}

/** Stored filters: those of blueprints and those of deployments. */
export function filterCommands(cli: Cli): void {
  addFilters(cli, {
    noun: 'blueprint-filters',
    alias: 'blueprint-filter',
    about: 'stored filters of blueprints',
    examples: ['blueprint-filters create mine --attrs-rule "created_by=alice"'],
    param: 'filter_id',
    list: 'listBlueprintFilters',
    get: 'getBlueprintFilter',
    delete: 'deleteBlueprintFilter',
    create: {
      operation: 'putBlueprintFilter',
      request: (filter_id, body) => ({ params: { filter_id }, body }),
    },
    update: {
      operation: 'patchBlueprintFilter',
      request: (filter_id, body) => ({ params: { filter_id }, body }),
    },
  });
  addFilters(cli, {
    noun: 'deployment-filters',
    alias: 'filters',
    about: 'stored filters of deployments',
    examples: [
      'deployment-filters create production --labels-rule env=prod',
      'deployments list --filter-id production',
    ],
    param: 'id',
    list: 'listDeploymentFilters',
    get: 'getDeploymentFilter',
    delete: 'deleteDeploymentFilter',
    create: { operation: 'createDeploymentFilter', request: (id, body) => ({ params: { id }, body }) },
    update: { operation: 'updateDeploymentFilter', request: (id, body) => ({ params: { id }, body }) },
  });
}

function addFilters<const Create extends OperationId, const Update extends OperationId>(
  cli: Cli,
  kind: FilterKind<Create, Update>,
): void {
  const { param } = kind;
  const filters = noun(cli, kind.noun, { alias: kind.alias, about: kind.about, examples: kind.examples });
  listCommand(cli, filters, { ...SHOWN, operation: kind.list, about: 'list filters' });
  getCommand(cli, filters, { ...SHOWN, operation: kind.get, param, about: 'show a filter' });
  callCommand(cli, filters, {
    name: 'create <id>',
    about: 'store a filter',
    operation: kind.create.operation,
    options: [...rules(), visibilityOption('tenant')],
    request: ([id], o) => kind.create.request(id, { filter_rules: givenRules(o), visibility: o.visibility }),
    done: ([id]) => `Filter ${id} stored.`,
  });
  callCommand(cli, filters, {
    name: 'update <id>',
    about: 'change rules or visibility of a filter',
    operation: kind.update.operation,
    options: [...rules(), visibilityOption()],
    request: ([id], o) => kind.update.request(id, changeOf(o)),
    done: ([id]) => `Filter ${id} changed.`,
  });
  deleteCommand(cli, filters, {
    operation: kind.delete,
    param,
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
