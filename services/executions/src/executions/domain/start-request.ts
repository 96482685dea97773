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

/** Seconds that an execution waits after a failure for what else runs, where nobody says. */
export const WAIT_AFTER_FAIL_S = 600;

/** What a request must say; all else is as nobody had asked for it. */
type Asked = Pick<
  StartRequest,
  'tenant' | 'createdBy' | 'isAdministrator' | 'requestId' | 'workflowId' | 'deploymentId' | 'parameters'
>;

/** A request with the defaults of all that it does not say: start now or be refused, with declared parameters only. */
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

/** Digest of everything that makes two requests the same. */
export function payloadHash(request: StartRequest): string {
  const { requestId: _id, isAdministrator: _admin, isOfClient: _client, ...content } = request;
  return createHash('sha256').update(canonicalJson(content)).digest('hex');
}
