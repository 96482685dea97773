/** One reason why an execution waits, as GET /executions/{id}/why shows it. */
export interface WaitReason {
  kind: string;
  message: string;
  /** Start of this wait; ISO instant, null = unknown. */
  since: string | null;
  /** Latest end of this wait; null = unknown. */
  until: string | null;
  details: Record<string, unknown>;
}

export const reason = (kind: string, message: string, more: Partial<WaitReason> = {}): WaitReason => ({
  kind,
  message,
  since: null,
  until: null,
  details: {},
  ...more,
});
