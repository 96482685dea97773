/**
 * The permitted callers of each rpc method. This is the only table: a method that is not here is refused, and a test
 * compares the table with the definitions. A caller's token proves its name (packages/trust/src/caller.ts); the proof
 * of a lease proves the work that a worker holds.
 */
import { managerServices, type ServiceName } from './route';

/** `newcomer`: a process that has no credential yet. */
export type RpcCaller = ServiceName | 'newcomer';

/**
 * The proof that a worker gives with a call, field by field, so that its own claim about the tenant or task need not be
 * trusted.
 */
export interface WorkerRule {
  /** live: a lease that it holds now. once: a lease that it held (log lines may come late). none: its own name is enough. */
  lease: 'live' | 'once' | 'none';
  /** Field of the request -> field of the lease (or of the worker) that it must equal. */
  same: Readonly<Record<string, LeaseField>>;
  /** Fields for which a worker may only use this value. */
  fixed?: Readonly<Record<string, unknown>>;
  /**
   * The folder of the request: `read`: the folder of its deployment, of the tenant or of everybody; `write`: only that
   * of its deployment.
   */
  folder?: 'read' | 'write';
  /** Fields with node instances: an agent may name only those that the operation of its lease sees. */
  instances?: readonly string[];
  /** The inputs to evaluate must be those of the lease: they name the secrets that may be read. */
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

/** Identity of a run of workflow code; executions checks whether that lease is still held. */
const run: WorkerRule = { lease: 'none', same: { 'run.workerId': 'workerId' } };
/**
 * Imported blueprints and plugins of the plan are read too: catalog knows which ones
 * (services/catalog/src/queries/worker-bounds.ts).
 */
const ofPlan: WorkerRule = { lease: 'live', same: { tenant: 'tenant' } };

const services: Record<string, Record<string, RpcRule>> = {
  'baton.executions.v1.ExecutionsService': {
    ClaimTask: workers({ lease: 'none', same: { workerId: 'workerId' } }),
    ClaimAgentTasks: workers({ lease: 'none', same: { workerId: 'workerId' } }),
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
    CountSchedules: by('deployments'),
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
    // A worker whose certificate has expired registers again.
    RegisterWorker: and(by('newcomer'), { lease: 'none', same: { workerId: 'workerId' } }),
    RenewWorker: workers({ lease: 'none', same: { workerId: 'workerId' } }),
    RegisterAgent: by('gateway'),
  },
  'baton.deployments.v1.DeploymentsService': {
    GetDeployment: by('executions'),
    FindDeployment: by('catalog', 'executions'),
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
      instances: ['nodeInstanceId', 'relatedInstanceId'],
      isInputsBound: true,
    }),
    UpdateNodeInstance: workers({
      lease: 'live',
      same: { tenant: 'tenant', executionId: 'executionId', taskId: 'taskId', attempt: 'attempt' },
      fixed: { force: false },
      instances: ['nodeInstanceId'],
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
  'baton.deployments.v1.AgentsService': {
    EnrolAgent: by('gateway'),
    RenewAgentCertificate: by('gateway'),
    AdmitAgent: by('gateway'),
    ReportAgents: by('gateway'),
    IssueListenerCertificate: by('gateway'),
    ReadInstallScript: by('gateway'),
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
  'baton.secrets.v1.TextSealService': {
    SealText: by('cluster-status', 'deployments'),
    OpenText: by('cluster-status', 'deployments'),
  },
  'baton.identity.v1.IdentityService': {
    Authenticate: by('gateway'),
    GetPrincipal: by('gateway', 'catalog', 'deployments', 'executions', 'secrets', 'cluster-status'),
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
  'baton.imports.v1.ImportPartService': {
    StageRecords: by('cluster-status'),
    Rehearse: by('cluster-status'),
    Apply: by('cluster-status'),
    ListFates: by('cluster-status'),
    Activate: by('cluster-status'),
    DiscardImport: by('cluster-status'),
    ExportRecords: by('cluster-status'),
  },
  'baton.tenants.v1.TenantPartService': {
    CloseTenant: by('identity'),
    OpenTenant: by('identity'),
    ClearTenant: by('identity'),
  },
};

/** Path on the wire (/baton.catalog.v1.CatalogService/GetBlueprint) -> permitted callers. */
export const rpcRules: ReadonlyMap<string, RpcRule> = new Map(
  Object.entries(services).flatMap(([service, methods]) =>
    Object.entries(methods).map(([name, rule]) => [`/${service}/${name}`, rule] as const),
  ),
);

/**
 * Callers that may ask a server by reflection for its methods. Not a row of the table: reflection is no method of
 * proto/. Workers run foreign code and need no names of methods.
 */
export const reflectionCallers: readonly RpcCaller[] = managerServices;
