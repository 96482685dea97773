import type { Log } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { TenantLimitsSource } from '@baton/service-runtime';
import type { CatalogPort } from './adapters/catalog.client';
import type { ExecutionsPort } from './adapters/executions.client';
import type { IdentityPort } from './adapters/identity.client';
import type { SecretsPort } from './adapters/secrets.client';
import type { ExecutionNotes } from './commands/note-executions';
import type { RefusalTexts } from './domain/refusal-texts';
import type { DeploymentPages, DeploymentRecords } from './queries/deployment-records';
import type { SeenTotals } from './queries/plain-page';
import type { FragmentCache } from './queries/present-deployment';
import type { WorkflowReads } from './queries/workflow-reads';
import type { DeploymentStatements } from './store/deployment-pages.sql';
import type { DocumentCache } from './store/documents.sql';
import type { DB } from './store/tables.gen';

/** Dependencies that the composition root passes to routes, rpc and loops; commands and queries declare the part that they use. */
export interface ServiceDeps {
  db: Db<DB>;
  documents: DocumentCache;
  fragments: FragmentCache;
  deploymentStatements: DeploymentStatements;
  seenTotals: SeenTotals;
  deploymentRecords: DeploymentRecords;
  deploymentPages: DeploymentPages;
  notes: ExecutionNotes;
  workflowReads: WorkflowReads;
  catalog: CatalogPort;
  secrets: SecretsPort;
  identity: IdentityPort;
  executions: ExecutionsPort;
  /** Quotas of the tenants. */
  limits: Pick<TenantLimitsSource, 'of'>;
  log: Log;
  /** Whether the bounds of a node or group limit modifications (`WirePolicy.boundsScaling`). */
  boundsScaling: boolean;
  texts: RefusalTexts;
  /** Id of this replica, for leases. */
  instanceId: string;
  /** Wakes the loop that performs plugins updates. */
  kickPluginsUpdates(): void;
}
