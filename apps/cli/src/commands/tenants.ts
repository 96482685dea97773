import { type Command, InvalidArgumentError, type Option } from 'commander';
import { type Cli, command, noun, option, type Run, required } from '../layer/define';
import { callCommand, deleteCommand, getCommand, listCommand } from '../layer/resource';

/** Options of `quota`, in the order of display: field of the API -> what it limits. */
const LIMITS = {
  max_deployments: 'deployments',
  max_running_executions: 'executions at work',
  max_queued_executions: 'executions that wait',
  max_storage_bytes: 'bytes of blueprints, plugins and files',
  max_requests_per_minute: 'requests a minute',
} as const;

const WORDS: Record<string, number | null> = { unlimited: -1, default: null };
const SHOWN = { columns: ['name', 'users', 'groups'], name: 'name' };

/** `baton tenants ...`: tenants, their members and their limits. */
export function tenantCommands(cli: Cli): void {
  const tenants = noun(cli, 'tenants', {
    alias: 'tenant',
    about: 'tenants, their members and what they may have at most',
    examples: [
      'tenants create team-a',
      'tenants add-user alice -n team-a -r user',
      'tenants quota team-a --max-deployments 20',
    ],
  });
  listCommand(cli, tenants, {
    ...SHOWN,
    operation: 'listTenants',
    about: 'list the tenants that you may see',
  });
  getCommand(cli, tenants, {
    ...SHOWN,
    operation: 'getTenant',
    param: 'tenant_name',
    argument: '<name>',
    about: 'show a tenant with its users and groups',
    query: { _get_data: true },
    more: ['user_roles'],
  });
  callCommand(cli, tenants, {
    name: 'create <name>',
    about: 'create a tenant',
    operation: 'createTenant',
    request: ([name]) => ({ params: { name } }),
    done: ([name]) => `Tenant ${name} created.`,
  });
  deleteCommand(cli, tenants, {
    operation: 'deleteTenant',
    param: 'name',
    argument: '<name>',
    about: 'delete an empty tenant',
    kind: 'Tenant',
  });
  userMembers(cli, tenants);
  groupMembers(cli, tenants);
  quotaCommand(cli, tenants);
}

const ofTenant = (): Option => required('-n, --tenant-name <name>', 'tenant');
const withRole = (): Option =>
  required('-r, --role <role>', 'role in the tenant: manager, user, operations, viewer, ...');

function userMembers(cli: Cli, tenants: Command): void {
  callCommand(cli, tenants, {
    name: 'add-user <username>',
    about: 'add a user to a tenant',
    operation: 'addTenantUser',
    options: [ofTenant(), withRole()],
    request: ([username], o) => ({ body: { tenant_name: o.tenantName, username, role: o.role } }),
    done: ([username], { name }) => `User ${username} added to tenant ${name}.`,
  });
  callCommand(cli, tenants, {
    name: 'update-user <username>',
    about: "change a user's role in a tenant",
    operation: 'updateTenantUser',
    options: [ofTenant(), withRole()],
    request: ([username], o) => ({ body: { tenant_name: o.tenantName, username, role: o.role } }),
    done: ([username], { name }) => `Role of user ${username} in tenant ${name} changed.`,
  });
  callCommand(cli, tenants, {
    name: 'remove-user <username>',
    about: 'remove a user from a tenant',
    operation: 'removeTenantUser',
    options: [ofTenant()],
    request: ([username], o) => ({ body: { tenant_name: o.tenantName, username } }),
    done: ([username]) => `User ${username} removed from the tenant.`,
  });
}

function groupMembers(cli: Cli, tenants: Command): void {
  callCommand(cli, tenants, {
    name: 'add-user-group <group>',
    about: 'add a user group to a tenant',
    operation: 'addTenantGroup',
    options: [ofTenant(), withRole()],
    request: ([group_name], o) => ({ body: { tenant_name: o.tenantName, group_name, role: o.role } }),
    done: ([group], { name }) => `User group ${group} added to tenant ${name}.`,
  });
  callCommand(cli, tenants, {
    name: 'update-user-group <group>',
    about: "change a user group's role in a tenant",
    operation: 'updateTenantGroup',
    options: [ofTenant(), withRole()],
    request: ([group_name], o) => ({ body: { tenant_name: o.tenantName, group_name, role: o.role } }),
    done: ([group], { name }) => `Role of user group ${group} in tenant ${name} changed.`,
  });
  callCommand(cli, tenants, {
    name: 'remove-user-group <group>',
    about: 'remove a user group from a tenant',
    operation: 'removeTenantGroup',
    options: [ofTenant()],
    request: ([group_name], o) => ({ body: { tenant_name: o.tenantName, group_name } }),
    done: ([group]) => `User group ${group} removed from the tenant.`,
  });
}

function quotaCommand(cli: Cli, tenants: Command): void {
  command(cli, tenants, {
    name: 'quota <name>',
    about: 'show what a tenant may have and has; with options, set it (administrators)',
    uses: ['getTenantQuota', 'setTenantQuota'],
    options: [
      option('--worker-weight <n>', 'part of the places of workers, 0.01 to 100; or default').argParser(
        limit,
      ),
      ...Object.entries(LIMITS).map(([field, what]) =>
        option(`--${field.replaceAll('_', '-')} <n>`, `most ${what}; or unlimited, or default`).argParser(
          limit,
        ),
      ),
    ],
    run: quota,
  });
}

async function quota({
  args: [name],
  options,
  client,
  out,
}: Run<'getTenantQuota' | 'setTenantQuota'>): Promise<void> {
  const params = { tenant_name: name };
  const change = Object.fromEntries(Object.entries(options).map(([key, value]) => [fieldOf(key), value]));
  const answer =
    Object.keys(change).length === 0
      ? await client.call('getTenantQuota', { params })
      : await client.call('setTenantQuota', { params, body: change });
  if (out.isMachine) return out.record(answer, undefined, { name: 'tenant_name' });
  const rows = Object.keys(LIMITS).map((field) => {
    const { limit, own, usage } = answer[field as keyof typeof LIMITS];
    const from = own === null ? 'default' : 'tenant';
    return { quota: field, usage: usage ?? '-', limit: limit ?? 'unlimited', set_by: from };
  });
  const weight = {
    quota: 'worker_weight',
    usage: '-',
    limit: answer.worker_weight ?? 'as workers are configured',
    set_by: answer.worker_weight === null ? 'default' : 'tenant',
  };
  out.table([...rows, weight], ['quota', 'usage', 'limit', 'set_by']);
}

/** Converts the name of an option as commander has it into a field of the API: maxDeployments -> max_deployments. */
const fieldOf = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Converts the text of an option: the API has -1 for `unlimited` and null for `default`. */
function limit(text: string): number | null {
  if (Object.hasOwn(WORDS, text)) return WORDS[text]!;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('It must be a number, `unlimited` or `default`.');
  return value;
}
