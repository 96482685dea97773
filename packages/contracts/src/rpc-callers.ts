/**
 * Who may call which rpc method. The one table: what is not here is refused, and a test holds it against the definitions.
 * A caller's name is proved by its token (packages/trust/src/caller.ts), what a worker holds by the proof of a lease.
 */
import { managerServices, type ServiceName } from './route';

/** `newcomer`: a process that has no credential yet. */
export type RpcCaller = ServiceName | 'newcomer';

/** What a worker shows with a call, field by field, so that its word about whom it acts for is not needed. */
export interface WorkerRule {
  /** live: a lease that holds now. once: one that it had (log lines may come late). none: its own name is enough. */
  lease: 'live' | 'once' | 'none';
  /** Field of the request -> what of the lease (or of the worker) must stand there. */
  same: Readonly<Record<string, LeaseField>>;
  /** Fields that a worker may only have in this way. */
  fixed?: Readonly<Record<string, unknown>>;
  /** The folder of the request: `read`, its deployment's, the tenant's or everybody's; `write`, its deployment's. */
  folder?: 'read' | 'write';
  /** Inputs that are to be evaluated are those of the lease: they name the secrets that may be read. */
  isInputsBound?: boolean;
}

export type LeaseField =
  | 'workerId'
  | 'tenant'
  | 'executionId'
  | 'taskId'
  | 'attempt'
  | 'deploymentId'
  | 'blueprintId'
  | 'username';

export interface RpcRule {
  callers: readonly RpcCaller[];
  /** Present exactly where `worker` is among the callers. */
  worker?: WorkerRule;
}

const by = (...callers: RpcCaller[]): RpcRule => ({ callers });
const and = (rule: RpcRule, worker: WorkerRule): RpcRule => ({
  callers: [...rule.callers, 'worker'],
  worker,
});
const workers = (worker: WorkerRule): RpcRule => and(by(), worker);

/** What a run of workflow code names itself by; executions looks whether that lease still holds. */
const run: WorkerRule = { lease: 'none', same: { 'run.workerId': 'workerId' } };
/** Imported blueprints are read too, and plugins of the plan: catalog knows them (services/catalog/src/queries/worker-bounds.ts). */
const ofPlan: WorkerRule = { lease: 'live', same: { tenant: 'tenant' } };

const services: Record<string, Record<string, RpcRule>> = {
  'baton.executions.v1.ExecutionsService': {
    ClaimTask: workers({ lease: 'none', same: { workerId: 'workerId' } }),
    FinishTasks: workers({ lease: 'none', same: { workerId: 'workerId' } }),
    Heartbeat: workers({ lease: 'none', same: { workerId: 'workerId' } }),
    AppendEvents: workers({ lease: 'once', same: { workerId: 'workerId', executionId: 'executionId' } }),
    SubmitWork: workers(run),
    AwaitWork: workers(run),
    CallFromWorkflow: workers(run),
    ResolveExecutionToken: by('gateway'),
    StartExecution: by('deployments', 'cluster-status'),
    StartExecutionGroup: by('deployments'),
    ListActiveExecutions: by('deployments'),
    ListScheduledDeployments: by('deployments'),
    ListUnfinishedExecutions: by('cluster-status'),
    AwaitExecution: by('deployments'),
    GetLatestExecutions: by(),
    GetTenantUsage: by('identity'),
  },
  'baton.executions.v1.SystemExecutionsService': {
    ReportSystemExecution: by('deployments', 'cluster-status'),
    ExportLogs: by('cluster-status'),
  },
  'baton.executions.v1.WorkersService': {
    // Again by one whose certificate has run out.
    RegisterWorker: and(by('newcomer'), { lease: 'none', same: { workerId: 'workerId' } }),
    RenewWorker: workers({ lease: 'none', same: { workerId: 'workerId' } }),
  },
  'baton.deployments.v1.DeploymentsService': {
    GetDeployment: by('executions'),
    FindDeployment: by('catalog'),
    GetWorkflowModel: and(by('executions'), {
      lease: 'live',
      same: { tenant: 'tenant', deploymentId: 'deploymentId' },
    }),
    OpenOperation: workers({
      lease: 'live',
      same: {
        tenant: 'tenant',
        deploymentId: 'deploymentId',
        executionId: 'executionId',
        username: 'username',
      },
      isInputsBound: true,
    }),
    UpdateNodeInstance: workers({
      lease: 'live',
      same: { tenant: 'tenant', executionId: 'executionId', taskId: 'taskId', attempt: 'attempt' },
      fixed: { force: false },
    }),
    ApplyExecutionStates: by('executions'),
    EvaluateFunctions: by('executions'),
    ListDeploymentsOfBlueprint: by('catalog'),
    ListComponents: by('executions'),
    CallModel: by('executions'),
    CountDeployments: by('identity'),
    ExecutionEnded: by('executions'),
    ListGroupMembers: by('executions'),
    ListLatestExecutions: by('executions'),
    AddToGroup: by('executions'),
  },
  'baton.catalog.v1.CatalogService': {
    GetBlueprint: and(by('deployments', 'executions'), {
      ...ofPlan,
      fixed: { withPlan: false, isAdministrator: false, username: '' },
    }),
    ReadPlan: and(by('deployments', 'executions'), {
      lease: 'live',
      same: { tenant: 'tenant', blueprintId: 'blueprintId' },
      fixed: { isAdministrator: false, username: '' },
    }),
    ReadBlueprintFile: workers(ofPlan),
    ListBlueprintFiles: workers(ofPlan),
    GetUpload: by('executions'),
    FindPlugins: and(by('deployments'), ofPlan),
    ReadWagon: workers(ofPlan),
    PreparePluginsUpdate: by('deployments'),
    AdoptPluginsUpdate: by('deployments'),
    DropPluginsUpdate: by('deployments'),
    GetFolder: workers({ lease: 'live', same: {}, folder: 'read' }),
    ReadStoredFile: workers({ lease: 'live', same: {}, folder: 'read' }),
    ZipFolder: by('deployments'),
    StorePiece: workers({ lease: 'live', same: {} }),
    ChangeFolder: workers({ lease: 'live', same: {}, folder: 'write' }),
    GetStorage: by('identity'),
    UnpackFolder: by('deployments'),
  },
  'baton.secrets.v1.SecretsService': {
    // Workers get values only as evaluated inputs of an operation that they hold (OpenOperation).
    GetSecretValues: by('deployments'),
  },
  'baton.secrets.v1.SnapshotSealService': {
    SealSnapshot: by('cluster-status'),
    CheckSnapshotSeal: by('cluster-status'),
  },
  'baton.identity.v1.IdentityService': {
    Authenticate: by('gateway'),
    GetPrincipal: by('gateway', 'catalog', 'deployments', 'executions', 'secrets'),
    ListTenants: by(),
    GetAuthorization: by('cluster-status'),
    ListLimits: by('gateway', 'catalog', 'deployments', 'executions'),
  },
  'baton.cluster_status.v1.ClusterStatusService': {
    Report: and(by(...managerServices), {
      lease: 'none',
      same: { instanceId: 'workerId' },
      fixed: { service: 'worker', others: [] },
    }),
    GetConfig: by('gateway', 'identity', 'executions'),
  },
  'baton.doctor.v1.DoctorPartService': { Examine: by('executions') },
  'baton.snapshots.v1.SnapshotPartService': {
    Export: by('cluster-status'),
    Describe: by('cluster-status'),
    Stage: by('cluster-status'),
    NoteBlobs: by('cluster-status'),
    Rehearse: by('cluster-status'),
    Switch: by('cluster-status'),
    Discard: by('cluster-status'),
  },
  'baton.tenants.v1.TenantPartService': {
    CloseTenant: by('identity'),
    OpenTenant: by('identity'),
    ClearTenant: by('identity'),
  },
};

/** Path on the wire (/baton.catalog.v1.CatalogService/GetBlueprint) -> who may call it. */
export const rpcRules: ReadonlyMap<string, RpcRule> = new Map(
  Object.entries(services).flatMap(([service, methods]) =>
    Object.entries(methods).map(([name, rule]) => [`/${service}/${name}`, rule] as const),
  ),
);

/**
 * Who may ask a server by reflection what it serves. Not a row of the table: reflection is no method of proto/. Workers run the
 * code of others, and need no names.
 */
export const reflectionCallers: readonly RpcCaller[] = managerServices;
