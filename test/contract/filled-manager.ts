/** A manager with four objects of every kind that lists show. */
import { eventually } from '@baton/testkit';
import type { Caller } from '../security/caller';
import { publicKey } from '../security/plugin-key';
import { tgz, wagon } from './world';

const ROWS = 4;
const numbers = Array.from({ length: ROWS }, (_, i) => i);
const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates: {n: {type: cloudify.nodes.Root}, m: {type: cloudify.nodes.Root}}
labels: {tier: {values: [a, b, c, d]}}
outputs: {o: {value: {get_secret: s0}}}
`;

/** Lists of the manager's own parts, lists that need an archive of the manager, and an export without pages. */
export const FEW = new Set([
  '/brokers',
  '/db-nodes',
  '/license',
  '/managers',
  '/log-bundles',
  '/snapshots',
  '/imports',
  '/secrets/share/export',
  // Covered by the uses of a secret, which are tested.
  '/blueprints/:blueprint_id/uses',
  '/plugins/:plugin_id/uses',
]);
/** Paths with the parameters or queries that they require. */
export const ASKED: Record<string, string> = {
  '/labels/blueprints/:label_key': '/labels/blueprints/tier?',
  '/labels/deployments/:key': '/labels/deployments/tier?',
  '/blueprints/:blueprint_id/uses': '/blueprints/b0/uses?',
  '/secrets/:secret_key/uses': '/secrets/s0/uses?',
  '/permissions/:role_name': '/permissions/sys_admin?',
  '/webhooks/:webhook_id/deliveries': '/webhooks/w0/deliveries?',
  '/workflows': '/workflows?',
  '/summary/blueprints': '/summary/blueprints?_target_field=visibility&',
  '/summary/deployments': '/summary/deployments?_target_field=blueprint_id&',
  '/summary/nodes': '/summary/nodes?_target_field=deployment_id&',
  '/summary/node_instances': '/summary/node_instances?_target_field=deployment_id&',
  '/summary/execution_schedules': '/summary/execution_schedules?_target_field=deployment_id&',
  '/summary/executions': '/summary/executions?_target_field=deployment_id&',
};

export async function fill(caller: Caller): Promise<void> {
  const { admin, must } = caller;
  const rules = [{ key: 'tier', values: ['a'], operator: 'any_of', type: 'label' }];
  for (const i of numbers) {
    await must(admin, 'PUT', '/users', {
      username: `u${i}`,
      password: 'long-enough-password',
      role: 'default',
    });
    await must(admin, 'POST', `/tenants/t${i}`);
    await must(admin, 'PUT', '/tenants/users', { tenant_name: `t${i}`, username: `u${i}`, role: 'user' });
    await must(admin, 'POST', '/user-groups', { group_name: `g${i}`, role: 'default' });
    await must(admin, 'PUT', '/user-groups/users', { group_name: `g${i}`, username: `u${i}` });
    await must(admin, 'POST', '/tokens', { description: `token ${i}` });
    await must(admin, 'PUT', `/user/views/v${i}`, { screen: `screen${i}`, query: `q=${i}` });
    await must(admin, 'PUT', `/secrets/s${i}`, { value: 'v' });
    await must(admin, 'PUT', `/sites/site${i}`, {});
    for (const kind of ['blueprints', 'deployments'])
      await must(admin, 'PUT', `/filters/${kind}/f${i}`, { filter_rules: rules });
    await must(admin, 'PUT', `/blueprints/b${i}`, undefined, tgz({ 'blueprint.yaml': BLUEPRINT }));
    await must(admin, 'PATCH', `/blueprints/b${i}`, { labels: [{ tier: `v${i}` }, { [`key${i}`]: 'x' }] });
    if (i > 0)
      await must(admin, 'PATCH', `/blueprints/b${i}/set-visibility`, {
        visibility: i > 1 ? 'global' : 'tenant',
      });
    await must(admin, 'POST', '/plugins', undefined, wagon(`plugin-${i}`));
    await must(admin, 'PUT', `/plugin-keys/k${i}`, { public_key: publicKey() });
    await must(admin, 'PUT', `/deployments/d${i}`, {
      blueprint_id: `b${i}`,
      labels: [{ tier: `v${i}` }, { [`key${i}`]: 'x' }],
    });
    await must(admin, 'PUT', `/deployment-groups/dg${i}`, { deployment_ids: [`d${i}`] });
    await must(admin, 'POST', '/execution-groups', {
      deployment_group_id: `dg${i}`,
      workflow_id: 'check_status',
    });
    await must(admin, 'PUT', `/execution-schedules/x${i}?deployment_id=d${i}`, {
      workflow_id: 'install',
      since: '2090-01-01T00:00:00Z',
      recurrence: '1 day',
    });
    await must(admin, 'PUT', `/deployment-updates/d${i}/update/initiate`, {
      blueprint_id: `b${i}`,
      inputs: {},
      preview: true,
    });
  }
  for (const i of numbers.slice(1))
    await must(admin, 'PUT', '/deployments/inter-deployment-dependencies', {
      dependency_creator: `c${i}`,
      source_deployment: `d${i}`,
      target_deployment: 'd0',
    });
  await fillDeployments(caller);
  await fillWebhooks(caller);
  // Running executions send their own statements, which may look like those of a list.
  const active = ['pending', 'queued', 'started', 'cancelling'].map((status) => `&status=${status}`).join('');
  await eventually(
    async () => {
      const { items } = await must(admin, 'GET', `/executions?_include_system_workflows=true${active}`);
      return items.length === 0;
    },
    { deadlineMs: 60_000 },
  );
}

/** Creates agents, changes and updates of existing deployments. */
async function fillDeployments({ admin, must }: Caller): Promise<void> {
  for (const i of numbers) {
    const { items } = await must(admin, 'GET', `/node-instances?deployment_id=d${i}`);
    await must(admin, 'PUT', `/agents/agent${i}`, {
      node_instance_id: items[0].id,
      state: 'started',
      create_rabbitmq_user: false,
    });
    await must(admin, 'PUT', '/secrets-providers', { name: `p${i}`, type: 'local' });
    await must(admin, 'POST', '/deployment-modifications', {
      deployment_id: `d${i}`,
      nodes: { n: { instances: 2 } },
    });
    await must(admin, 'POST', `/plugins-updates/b${i}/update/initiate`, { force: true });
  }
}

/** Creates triggers, and webhooks that hear nothing by themselves; deliveries of the first one have failed for ever. */
async function fillWebhooks({ admin, must }: Caller): Promise<void> {
  const url = 'https://hooks.invalid/';
  for (const i of numbers) {
    await must(admin, 'PUT', `/triggers/t${i}`, { deployment_id: `d${i}`, workflow_id: 'install' });
    const webhook = { url, events: ['webhook.disabled'], max_attempts: 1, is_enabled: false };
    await must(admin, 'PUT', `/webhooks/w${i}`, webhook);
  }
  for (const _ of numbers) {
    await must(admin, 'PATCH', '/webhooks/w0', { is_enabled: true });
    await must(admin, 'POST', '/webhooks/w0/ping');
    await eventually(
      async () => {
        const { items } = await must(admin, 'GET', '/webhooks/w0/deliveries?state=pending');
        return items.length === 0;
      },
      { deadlineMs: 30_000 },
    );
  }
}
