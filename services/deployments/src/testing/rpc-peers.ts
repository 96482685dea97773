import type { executionsRpc, identityRpc, secretsRpc } from '@baton/contracts';
import { isUuid, notFound } from '@baton/kernel';
import type { RpcHandlers } from '@baton/rpc';

/** The services secrets, identity and executions as their contracts define them, in memory. */
export interface Peers {
  secrets: RpcHandlers<typeof secretsRpc.SecretsServiceDefinition>;
  textSeal: RpcHandlers<typeof secretsRpc.TextSealServiceDefinition>;
  /** Names of the master keys of the secrets service, the current one first. */
  masterKeys: string[];
  identity: RpcHandlers<typeof identityRpc.IdentityServiceDefinition>;
  executions: RpcHandlers<typeof executionsRpc.ExecutionsServiceDefinition>;
  systemExecutions: RpcHandlers<typeof executionsRpc.SystemExecutionsServiceDefinition>;
  /** Answer of ReportSystemExecution. */
  systemStatus: { value: string };
  reports: executionsRpc.ReportSystemExecutionRequest[];
  /** Secret name -> value; a hidden one is released to administrators only. */
  values: Map<string, { value: string; isHidden?: boolean }>;
  /** Permissions of a user in a tenant, by `user@tenant`; without an entry only `admin` has any. */
  rights: Map<string, string[]>;
  /** Answers of ListActiveExecutions by deployment id. */
  active: Map<string, { id: string; workflow_id: string; status: string }[]>;
  /** `tenant/id` of deployments, once for each of their schedules. */
  scheduled: string[];
  /** Answer of ListLimits for every tenant. */
  limits: identityRpc.TenantLimits;
  started: executionsRpc.StartExecutionRequest[];
  startedGroups: executionsRpc.StartExecutionGroupRequest[];
}

const absent = async (): Promise<never> => {
  throw new Error('not part of this peer');
};

export function createPeers(): Peers {
  const values: Peers['values'] = new Map();
  const active: Peers['active'] = new Map();
  const rights: Peers['rights'] = new Map();
  const scheduled: string[] = [];
  const reports: Peers['reports'] = [];
  const systemStatus = { value: 'started' };
  const started: Peers['started'] = [];
  const startedGroups: Peers['startedGroups'] = [];
  const limits: Peers['limits'] = {};
  const masterKeys = ['first'];
  return {
    values,
    active,
    rights,
    scheduled,
    limits,
    reports,
    systemStatus,
    started,
    startedGroups,
    masterKeys,
    textSeal: textSeal(masterKeys),
    secrets: {
      getSecretValues: async ({ keys, isAdministrator }) => {
        const hidden = keys.filter((key) => values.get(key)?.isHidden && !isAdministrator);
        const shown = keys.filter((key) => values.has(key) && !hidden.includes(key));
        return {
          valuesJson: Object.fromEntries(shown.map((key) => [key, JSON.stringify(values.get(key)!.value)])),
          missing: keys.filter((key) => !values.has(key)),
          hidden,
        };
      },
    },
    identity: {
      authenticate: absent,
      listLimits: async () => ({ defaults: limits, tenants: {} }),
      getPrincipal: async ({ username, tenant }) => {
        if (!['admin', 'bob', 'carol'].includes(username)) throw notFound('User', username);
        const permissions =
          rights.get(`${username}@${tenant}`) ?? (username === 'admin' ? ['administrators'] : []);
        const principal = {
          userId: 1,
          username,
          tenant,
          role: 'default',
          roles: [],
          permissions,
          tenants: [],
          authMethod: 'external',
          executionId: '',
          isBootstrapAdmin: false,
        };
        return { principal, cacheMs: 0 };
      },
      listTenants: async () => ({ names: ['default_tenant'] }),
      getAuthorization: absent,
    },
    systemExecutions: {
      reportSystemExecution: async (report) => {
        if (report.log.length > 0 && !isUuid(report.batchId)) throw new Error('a batch is named by a UUID');
        reports.push(report);
        return { status: systemStatus.value };
      },
      exportLogs: absent as never,
    },
    executions: {
      getTenantUsage: absent,
      claimTask: absent,
      claimAgentTasks: absent,
      finishTasks: absent,
      heartbeat: absent,
      appendEvents: absent,
      resolveExecutionToken: absent,
      awaitExecution: async () => ({ isThere: true }),
      getLatestExecutions: absent,
      listUnfinishedExecutions: absent,
      submitWork: absent,
      awaitWork: absent,
      callFromWorkflow: absent,
      startExecution: async (request) => {
        started.push(request);
        return { executionId: `execution-${started.length}`, executionJson: '{}' };
      },
      startExecutionGroup: async (request) => {
        startedGroups.push(request);
        return {};
      },
      listScheduledDeployments: async ({ after }) => ({
        names: [...new Set(scheduled)].filter((name) => name > after).sort(),
      }),
      countSchedules: async ({ tenant, deploymentIds }) => ({
        total: scheduled.filter((name) => deploymentIds.some((id) => name === `${tenant}/${id}`)).length,
      }),
      listActiveExecutions: async ({ deploymentId }) => ({
        executionsJson: JSON.stringify(active.get(deploymentId) ?? []),
      }),
    },
  };
}

/** Seals by masking: no text is readable in the ciphertext, which opens only for its use, with a known master key. */
function textSeal(masterKeys: string[]): Peers['textSeal'] {
  const mask = (bytes: Uint8Array) => Buffer.from(bytes.map((byte) => byte ^ 0x5a));
  return {
    sealText: async ({ tenant, use, text }) => ({
      sealed: mask(Buffer.from(JSON.stringify([tenant, use, text, masterKeys[0]]))),
    }),
    openText: async ({ tenant, use, sealed }) => {
      const [ofTenant, forUse, text, key] = JSON.parse(mask(sealed).toString());
      const isReadable = ofTenant === tenant && forUse === use && masterKeys.includes(key);
      return { isReadable, text: isReadable ? text : '', isOutdated: key !== masterKeys[0] };
    },
  };
}
