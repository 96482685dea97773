import type { OperationPayload } from './operation';

/**
 * The part of the deployment model for one node instance's lifecycle. It is the only input of the sequence builders,
 * and small enough to be stored beside a subgraph, so that the re-run of the subgraph needs no other source.
 */
export interface LifecycleSubject {
  instanceId: string;
  nodeId: string;
  /** The instance's state when the subject was read; null when it has never had one. */
  state: string | null;
  isHost: boolean;
  /** `none`, `ssh` = no agent; only meaningful on hosts. */
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
