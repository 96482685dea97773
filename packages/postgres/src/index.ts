export { onClient } from './client-transaction';
export { clearTenant, closedTenantsText, closeTenant, openTenant } from './closed-tenants';
export { createDb, type Db, type DbOptions, type Tx } from './db';
export { type FilterTarget, filterConditions } from './filter-sql';
export { type Gathered, gather } from './gather';
export type { PreparedStatement } from './hot-query';
export { createInboxPurge, inbox } from './inbox';
export { type KeyColumn, type Keyset, selectListPage, type Way } from './keyset-page';
export { type MigrationOptions, runMigrations } from './migrations';
export { type MessageAbout, type OutgoingMessage, outbox, outgoing, unsent } from './outbox';
export { type OutboxRelay, type OutboxRelayDeps, startOutboxRelay } from './outbox-relay';
export { prepared } from './prepared';
export { type PrismaAdapter, type PrismaModel, prismaModel } from './prisma/model';
export { noteResource } from './resource-changes';
export { rowSecurityText } from './row-security';
export {
  containsText,
  equalsAny,
  equalsBoolean,
  equalsInteger,
  type PageRequest,
  pageConditions,
  selectPage,
} from './select-page';
export {
  databaseOf,
  ensureLogins,
  giveSchema,
  loginName,
  loginOf,
  type ServiceLogin,
  withLogin,
} from './service-logins';
export { isConnectionLoss, isDataError, isForeignKeyViolation, isUniqueViolation } from './sql-errors';
export { APP_NOW, appNow, appNowPlus, jsonb, selectFields } from './sql-fragments';
export { compileTemplate, Slot, type StatementTemplate } from './statement-template';
export { createStatisticsUpkeep } from './statistics-upkeep';
export { type SummaryKind, summarizeBy } from './summarize-by';
export { outsideRequests, writingTo } from './tenant-scope';
export {
  type AnyQuery,
  type AnyTx,
  afterCommit,
  atEndOf,
  isInTransaction,
  noteAfterCommit,
  sendAfterCommit,
} from './transaction-scope';
export { type VisibilityColumns, visibilityScope } from './visibility-scope';
export {
  globalText,
  isGlobal,
  isPrivate,
  privateCreatorText,
  sharedOrOwn,
  type Viewer,
  visibleTo,
} from './visibility-sql';
export { countedSummary, filteredTotal, visibleTotal } from './visible-total';
