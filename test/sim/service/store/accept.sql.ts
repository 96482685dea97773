import type * as real from '../../../../services/executions/src/executions/store/accept.sql';

/** Transactions of schedules have further work to do, so none of them uses the fast path. */
export const acceptExecutions: typeof real.acceptExecutions = async () => [];
