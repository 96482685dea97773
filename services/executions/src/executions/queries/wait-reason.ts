/** One thing that an execution waits for, as GET /executions/{id}/why tells it. */
export interface WaitReason {
  kind: string;
  message: string;
  /** Since when it waits for that; ISO instant, null = unknown. */
  since: string | null;
  /** When the wait is over at the latest; null = nobody can say. */
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
