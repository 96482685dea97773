import { FatalError, type Http, type WorkflowScope, workflow } from '@baton/plugin-sdk';
import * as z from 'zod';
import { type Dict, dictOf, fieldAt, isSame, type Json } from '../json';

/** Fields of a deployment that filters know. */
const OF_DEPLOYMENT = ['inputs', 'outputs', 'capabilities'] as const;

/** Another manager, or another user of this one. */
const CLIENT = z.looseObject({
  host: z.string(),
  port: z.coerce.number().optional(),
  protocol: z.enum(['http', 'https']).default('http'),
  tenant: z.string().default('default_tenant'),
  username: z.string().optional(),
  password: z.string().optional(),
  token: z.string().optional(),
  trust_all: z.boolean().default(false),
});

/** Runs a workflow of the deployment that an event tells of, when the event passes the filter. */
export const hookRunWorkflow = workflow({
  mapping: 'cloudify_hooks_workflow.cloudify_hooks_workflow.tasks.run_workflow',
  isResumable: true,
  parameters: z.object({
    inputs: z.any().default({}).describe('The event: deployment_id, workflow_id and so on'),
    logger_file: z.string().default('').describe('Has no effect: lines go to the log of the execution'),
    client_config: z.any().default({}).describe('Address and user of a manager. Empty: this one'),
    filter_by: z
      .any()
      .default([])
      .describe('List of path and values: the event must have one of the values there'),
    workflow_for_run: z.string().default('uninstall').describe('Name of the workflow'),
    workflow_params: z.any().default({}).describe('Arguments of the execution, for instance parameters'),
  }),
  async run(ctx, parameters) {
    const { logger } = ctx;
    const event = dictOf(parameters.inputs);
    const deployment = event.deployment_id;
    if (typeof deployment !== 'string' || deployment === '')
      return logger.error('Deployment id is undefined');
    if (parameters.workflow_for_run === '') return logger.error('Workflow for run is undefined');
    if (parameters.logger_file !== '') logger.warning('logger_file has no effect');
    const client = clientOf(ctx, parameters.client_config);
    const found = await client.get<Dict | null>(`/deployments/${encodeURIComponent(deployment)}`, {
      missingOk: true,
    });
    if (found === null) return logger.error(`There is no deployment ${deployment} any more`);
    const facts = OF_DEPLOYMENT.map((name): [string, Json] => [`deployment_${name}`, found[name] ?? {}]);
    const refusal = refusalOf(parameters.filter_by, { ...event, ...Object.fromEntries(facts) });
    if (refusal !== null) return logger.info(`The event is skipped: ${refusal}`);
    logger.info(`Going to ${parameters.workflow_for_run} on ${deployment}`);
    await ctx.step('start', async () => {
      const json = {
        ...dictOf(parameters.workflow_params),
        deployment_id: deployment,
        workflow_id: parameters.workflow_for_run,
      };
      const { id } = await client.post<{ id: string }>('/executions', { json });
      return id;
    });
  },
});

/** Why an event does not pass; null: it does. */
function refusalOf(rules: unknown, event: Dict): string | null {
  if (rules === undefined || rules === null || (Array.isArray(rules) && rules.length === 0)) return null;
  if (!Array.isArray(rules)) return 'filter_by is no list';
  for (const rule of rules as unknown[]) {
    const { path, values } = dictOf(rule);
    if (!Array.isArray(path) || path.length === 0) return 'a rule has no path';
    if (!Array.isArray(values) || values.length === 0) return 'a rule has no values';
    const value = fieldAt(event, path);
    if (!values.some((one) => isSame(one, value)))
      return `${path.join('.')} is none of the values of the rule`;
  }
  return null;
}

/** @throws FatalError for an address that cannot be used */
function clientOf(ctx: WorkflowScope, config: unknown): Http {
  if (Object.keys(dictOf(config)).length === 0) return ctx.manager();
  const parsed = CLIENT.safeParse(config);
  if (!parsed.success)
    throw new FatalError(
      parsed.error.issues
        .map(({ path, message }) => `client_config.${path.join('.')}: ${message}`)
        .join('; '),
    );
  const {
    host,
    protocol,
    port = protocol === 'https' ? 443 : 80,
    tenant,
    username,
    password,
    token,
    trust_all,
  } = parsed.data;
  return ctx.http.with({
    baseUrl: `${protocol}://${host}:${port}/api/v3.1`,
    headers: { Tenant: tenant, ...(token === undefined ? {} : { 'Authentication-Token': token }) },
    ...(token === undefined && username !== undefined
      ? { basic: { user: username, password: password ?? '' } }
      : {}),
    ...(trust_all ? { tls: { verify: false } } : {}),
  });
}
