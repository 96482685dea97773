import { deploymentsRpc } from '@baton/contracts';
import { chooseWire } from '@baton/http';
import { createImportPart } from '@baton/import-part';
import {
  createTenantLimits,
  type Infra,
  requireDb,
  rpcPart,
  type ServiceParts,
  temporarySweep,
} from '@baton/service-runtime';
import { createDoctorPart, createSnapshotPart, createTenantPart } from '@baton/snapshot-part';
import { renderInstallScript } from './adapters/agents/install-script';
import { createTextSealClient } from './adapters/agents/text-seal.client';
import { createCatalogClient } from './adapters/catalog.client';
import { createExecutionsClient } from './adapters/executions.client';
import { createIdentityClient } from './adapters/identity.client';
import { createSecretsClient } from './adapters/secrets.client';
import { openedKeys } from './commands/agents/authorities';
import type { FileDeps } from './commands/instance-files';
import { gatherNotes } from './commands/note-executions';
import type { Config } from './config';
import type { ServiceDeps } from './deps';
import { networksOf } from './domain/agents/networks';
import { type AgentsHttpDeps, agentsHttp } from './http/agents.routes';
import { cloudifyWire } from './http/cloudify/wire-policy';
import { dependenciesHttp } from './http/dependencies.routes';
import { deploymentGroupsHttp } from './http/deployment-groups.routes';
import { deploymentUpdatesHttp } from './http/deployment-updates.routes';
import { deploymentsHttp } from './http/deployments.routes';
import { evaluateHttp } from './http/evaluate.routes';
import { filtersHttp } from './http/filters.routes';
import { instanceFilesHttp } from './http/instance-files.routes';
import { labelsAndSummariesHttp } from './http/labels.routes';
import { modificationsHttp } from './http/modifications.routes';
import { nodesHttp } from './http/nodes.routes';
import { pluginsUpdatesHttp } from './http/plugins-updates.routes';
import { searchesHttp } from './http/searches.routes';
import { sitesHttp } from './http/sites.routes';
import { topologyHttp } from './http/topology.routes';
import { specWire, type WirePolicy } from './http/wire-policy';
import { createImportTables } from './imports/import-tables';
import { driveAgentUpgradesLoop } from './loops/agents/drive-agent-upgrades.loop';
import { markSilentAgentsLoop } from './loops/agents/mark-silent-agents.loop';
import { tendAgentAuthoritiesLoop } from './loops/agents/tend-agent-authorities.loop';
import { drivePluginsUpdates } from './loops/drive-plugins-updates.loop';
import { purgeGroupRequestsLoop } from './loops/purge-group-requests.loop';
import { purgeSettledExecutionsLoop } from './loops/purge-settled-executions.loop';
import { sweepDocumentsLoop } from './loops/sweep-documents.loop';
import { sweepFilesLoop } from './loops/sweep-files.loop';
import { tellDriftLoop } from './loops/tell-drift.loop';
import { unpackWorkdirsLoop } from './loops/unpack-workdirs.loop';
import { onExecutionRequested } from './messages/on-execution-requested';
import { gatherPages, gatherRecords } from './queries/deployment-records';
import type { ListDeps } from './queries/list-deployments';
import { createSeenTotals } from './queries/plain-page';
import { createFragmentCache } from './queries/present-deployment';
import { gatherWorkflowReads } from './queries/workflow-reads';
import { agentsRpcPart } from './rpc/agents/agents.rpc';
import { deploymentsHandlers } from './rpc/deployments.rpc';
import { createDeploymentStatements } from './store/deployment-pages.sql';
import { doctorChecks } from './store/doctor.sql';
import { createDocumentCache } from './store/documents.sql';
import { snapshotTables } from './store/snapshot-tables';
import type { DB } from './store/tables.gen';

export { type Config, configSchema } from './config';
export const serviceName = 'deployments' as const;

const gatheredReads = (lists: ListDeps) => ({
  deploymentRecords: gatherRecords(lists),
  deploymentPages: gatherPages(lists),
  workflowReads: gatherWorkflowReads(lists.db),
});

const ownLoops = (config: Config, deps: ServiceDeps, agents: AgentsHttpDeps): ServiceParts['loops'] => [
  sweepDocumentsLoop({ db: deps.db, keepMs: config.BATON_DOCUMENT_KEEP }),
  purgeGroupRequestsLoop(deps),
  purgeSettledExecutionsLoop(deps),
  unpackWorkdirsLoop(deps),
  tellDriftLoop(deps),
  markSilentAgentsLoop(deps),
  driveAgentUpgradesLoop(deps),
  tendAgentAuthoritiesLoop(agents),
];

const filesOf = (config: Config, infra: Infra, limits: FileDeps['limits']): FileDeps => ({
  db: requireDb<DB>(infra),
  blobs: infra.blobs,
  limits,
  fileMaxBytes: config.BATON_INSTANCE_FILE_MAX_BYTES,
});

const agentsOf = (
  config: Config,
  infra: Infra,
  { db, log, executions, secrets }: ServiceDeps,
): AgentsHttpDeps => ({
  db,
  log,
  executions,
  secrets,
  clock: infra.clock,
  seals: createTextSealClient(infra.rpc),
  opened: openedKeys(),
  graceMs: config.BATON_AGENT_GRACE,
  networks: networksOf(config.BATON_AGENTS_URL, config.BATON_AGENTS_NETWORKS),
  renderScript: renderInstallScript,
});

const routesOf = (
  deps: ServiceDeps,
  files: FileDeps,
  agents: AgentsHttpDeps,
  wire: WirePolicy,
): ServiceParts['routes'] => [
  ...deploymentsHttp(deps, wire),
  ...deploymentGroupsHttp(deps, wire),
  ...nodesHttp(deps, wire),
  ...instanceFilesHttp(files),
  ...sitesHttp(deps),
  ...agentsHttp(agents),
  ...dependenciesHttp(deps, wire),
  ...filtersHttp(deps),
  ...labelsAndSummariesHttp(deps),
  ...modificationsHttp(deps, wire),
  ...deploymentUpdatesHttp(deps, wire),
  ...pluginsUpdatesHttp(deps, wire),
  ...searchesHttp(deps, wire),
  ...evaluateHttp(deps),
  ...topologyHttp(deps),
];

/** Composes the deployments service. */
export function buildService(config: Config, infra: Infra): ServiceParts {
  const db = requireDb<DB>(infra);
  const identity = createIdentityClient(infra.rpc);
  const lists: ListDeps = {
    db,
    documents: createDocumentCache(),
    fragments: createFragmentCache(),
    deploymentStatements: createDeploymentStatements(db.query),
    seenTotals: createSeenTotals(),
  };
  const limits = createTenantLimits(infra.rpc);
  const wire = chooseWire(config.BATON_WIRE, { spec: specWire, cloudify: cloudifyWire });
  const deps: ServiceDeps = {
    ...lists,
    ...gatheredReads(lists),
    notes: gatherNotes(db),
    catalog: createCatalogClient(infra.rpc),
    secrets: createSecretsClient(infra.rpc, identity),
    identity,
    executions: createExecutionsClient(infra.rpc),
    limits,
    log: infra.log,
    boundsScaling: wire.boundsScaling,
    texts: wire.texts,
    instanceId: infra.instanceId,
    kickPluginsUpdates: () => void pluginsUpdates.work(),
  };
  const files = filesOf(config, infra, limits);
  const agents = agentsOf(config, infra, deps);
  const pluginsUpdates = drivePluginsUpdates(deps);
  return {
    name: serviceName,
    routes: routesOf(deps, files, agents, wire),
    rpc: [
      rpcPart(deploymentsRpc.DeploymentsServiceDefinition, deploymentsHandlers(deps)),
      agentsRpcPart(agents),
      createSnapshotPart({ db, schema: 'deployments', tables: snapshotTables, log: infra.log }),
      createTenantPart({ db, schema: 'deployments' }),
      createImportPart({ db, tables: createImportTables(infra.blobs), log: infra.log }),
      createDoctorPart({ db, log: infra.log, checks: doctorChecks(db) }),
    ],
    consumers: onExecutionRequested(deps),
    subscriptions: [limits.subscription],
    loops: [
      limits.loop,
      ...ownLoops(config, deps, agents),
      sweepFilesLoop(files),
      temporarySweep(infra.blobs),
      pluginsUpdates.loop,
    ],
    checks: { database: () => db.ping(), blobs: () => infra.blobs.ping() },
    stop: () => pluginsUpdates.stop(),
  };
}
