/** Decides what webhooks hear of drift: one fact for each deployment, however many of its instances changed. */

/** A node instance whose configuration began (`is_drifted`) or ceased to differ, with its deployment. */
export interface DriftChange {
  tenant: string;
  /** Null: the deployment is gone. */
  deployment_id: string | null;
  blueprint_id: string | null;
  instance_id: string;
  is_drifted: boolean;
  /** ISO instant. */
  changed_at: string;
  /** Drifted instances of the deployment now. */
  drifted_now: number;
}

export interface DriftSummary {
  tenant: string;
  deploymentId: string;
  blueprintId: string | undefined;
  driftedInstances: number;
  newlyDrifted: number;
  noLongerDrifted: number;
  /** ISO instant of the last change. */
  changedAt: string;
}

/** Returns a summary for each deployment that is still there. `changes`: in their order; of an instance the last one counts. */
export function summarizeDrift(changes: readonly DriftChange[]): DriftSummary[] {
  const last = new Map<string, DriftChange>();
  for (const one of changes) last.set(JSON.stringify([one.tenant, one.instance_id]), one);
  const summaries = new Map<string, DriftSummary>();
  for (const one of last.values()) {
    if (one.deployment_id === null) continue;
    const key = JSON.stringify([one.tenant, one.deployment_id]);
    const summary = summaries.get(key) ?? emptySummary(one, one.deployment_id);
    if (one.is_drifted) summary.newlyDrifted++;
    else summary.noLongerDrifted++;
    if (Date.parse(one.changed_at) > Date.parse(summary.changedAt)) summary.changedAt = one.changed_at;
    summaries.set(key, summary);
  }
  return [...summaries.values()];
}

const emptySummary = (of: DriftChange, deploymentId: string): DriftSummary => ({
  tenant: of.tenant,
  deploymentId,
  blueprintId: of.blueprint_id ?? undefined,
  driftedInstances: of.drifted_now,
  newlyDrifted: 0,
  noLongerDrifted: 0,
  changedAt: of.changed_at,
});
