import { createHash } from 'node:crypto';
import { canonicalJson, type JsonObject } from '@baton/kernel';

/** A request to run a workflow, checked for its form. */
export interface StartRequest {
  tenant: string;
  createdBy: string;
  isAdministrator: boolean;
  /** Idempotency: the same id with the same content answers the first execution. Null: nobody will repeat it. */
  requestId: string | null;
  workflowId: string;
  deploymentId: string | null;
  parameters: JsonObject;
  allowCustomParameters: boolean;
  isForced: boolean;
  mayQueue: boolean;
  isDryRun: boolean;
  waitAfterFailS: number;
  /** Epoch ms, null = now. */
  scheduledForMs: number | null;
  isSystemWorkflow: boolean;
  /** The workflow is named by a user: those that a request on another resource starts are refused. */
  isOfClient?: boolean;
  /** The execution whose stage starts this one and waits for its end. */
  parentId?: string;
}

/** Digest of everything that makes two requests the same. */
export function payloadHash(request: StartRequest): string {
  const { requestId: _id, isAdministrator: _admin, isOfClient: _client, ...content } = request;
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}
