import type { OperationPayload } from './operation';

/**
 * The part of the deployment model that one node instance's lifecycle is made of: the only thing the sequence
 * builders read, and small enough to be stored beside a subgraph so that its re-run needs no other source.
 */
export interface LifecycleSubject {
  instanceId: string;
  nodeId: string;
  /** The instance's state when the subject was read; null where none was ever set. */
  state: string | null;
  isHost: boolean;
  /** `none` = no agent; only meaningful on hosts. */
  installMethod: string;
  /** Implemented operations only, by full name `<interface>.<operation>`. */
  operations: { [name: string]: OperationTemplate };
  /** In blueprint order, one per target instance. */
  relationships: RelationshipTemplate[];
}

/** An implemented operation ready to become a task. */
export interface OperationTemplate {
  payload: OperationPayload;
  totalRetries: number;
  retryIntervalMs: number;
}

export interface RelationshipTemplate {
  type: string;
  targetId: string;
  targetNode: string;
  /** Implemented operations by short name of the relationship lifecycle (`establish`, ...). */
  operations: { [name: string]: { source?: OperationTemplate; target?: OperationTemplate } };
}
