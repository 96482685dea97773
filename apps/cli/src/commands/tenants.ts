import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { sessionOf } from '../session';

/** Options of `quota`, in the order in which they are shown: field of the API -> what it is about. */
const LIMITS = {
  max_deployments: 'deployments',
  max_running_executions: 'executions at work',
  max_queued_executions: 'executions that wait',
  max_storage_bytes: 'bytes of blueprints, plugins and files',
  max_requests_per_minute: 'requests a minute',
} as const;

const WORDS: Record<string, number | null> = { unlimited: -1, default: null };

/** `baton tenants ...`: what tenants may have. */
export function tenantCommands(program: Command): void {
  const tenants = program.command('tenants').alias('tenant').description('what tenants may have at most');
  const quota = tenants
    .command('quota <name>')
    .description('show what a tenant may have and has; with options, set it (administrators)')
    .option('--worker-weight <n>', 'part of the places of workers, 0.01 to 100; or default', number);
  for (const [field, what] of Object.entries(LIMITS))
    quota.option(`--${field.replaceAll('_', '-')} <n>`, `most ${what}; or unlimited, or default`, number);
  quota.action(async (name: string, options, command: Command) => {
    const { client, out } = sessionOf(command);
    const params = { tenant_name: name };
    const { workerWeight, ...limits } = options as Record<string, number | null>;
    const change = Object.fromEntries(Object.entries(limits).map(([key, value]) => [fieldOf(key), value]));
    if (workerWeight !== undefined) change.worker_weight = workerWeight;
    const answer =
      Object.keys(change).length === 0
        ? await client.call('getTenantQuota', { params })
        : await client.call('setTenantQuota', { params, body: change });
    if (out.isJson) return out.record(answer);
    const rows = Object.keys(LIMITS).map((field) => {
      const { limit, own, usage } = answer[field as keyof typeof LIMITS];
      const from = own === null ? 'default' : 'tenant';
      return { quota: field, usage: usage ?? '-', limit: limit ?? 'unlimited', set_by: from };
    });
    const weight = {
      quota: 'worker_weight',
      usage: '-',
      limit: answer.worker_weight ?? 'as workers are configured',
    };
    out.table(
      [...rows, { ...weight, set_by: answer.worker_weight === null ? 'default' : 'tenant' }],
      COLUMNS,
    );
  });
}

const COLUMNS = ['quota', 'usage', 'limit', 'set_by'];

/** maxDeployments, as commander calls it -> max_deployments. */
const fieldOf = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `unlimited` is -1, `default` is null for the API. */
function number(text: string): number | null {
  if (Object.hasOwn(WORDS, text)) return WORDS[text]!;
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new InvalidArgumentError('It must be a number, `unlimited` or `default`.');
  return value;
}
