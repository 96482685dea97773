import { createHash } from 'node:crypto';
import { canonicalJson, type JsonObject } from '@baton/kernel';

/** A request to run a workflow, checked for its form. */
export interface StartRequest {
  tenant: string;
  createdBy: string;
  isAdministrator: boolean;
  /** For idempotency: the same id with the same content returns the first execution. Null: the request is never repeated. */
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
  /** Whether a user names the workflow: workflows that only a request on another resource starts are refused then. */
  isOfClient?: boolean;
  /** The execution whose stage starts this one and waits for its end. */
  parentId?: string;
}

/** Default of the seconds that an execution waits after a failure for its other running operations. */
export const WAIT_AFTER_FAIL_S = 600;

/** Fields that a request must have; the other fields have defaults. */
type Asked = Pick<
  StartRequest,
  'tenant' | 'createdBy' | 'isAdministrator' | 'requestId' | 'workflowId' | 'deploymentId' | 'parameters'
>;

/** Returns a request with defaults for its missing fields: start now or be refused, with declared parameters only. */
export const startRequest = (asked: Asked & Partial<StartRequest>): StartRequest => ({
  allowCustomParameters: false,
  isForced: false,
  mayQueue: false,
  isDryRun: false,
  waitAfterFailS: WAIT_AFTER_FAIL_S,
  scheduledForMs: null,
  isSystemWorkflow: false,
  ...asked,
});

/** Returns the digest of all fields that make two requests the same. */
export function payloadHash(request: StartRequest): string {
  const { requestId: _id, isAdministrator: _admin, isOfClient: _client, ...content } = request;
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}
