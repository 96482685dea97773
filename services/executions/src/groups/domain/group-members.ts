import type { JsonObject } from '@baton/kernel';
import type { DeploymentFacts } from '../../adapters/deployments.client';
import { type StartRequest, startRequest } from '../../executions/domain/start-request';

/** What POST /execution-groups asks for (reference/rest-api.md 5.8). */
export interface GroupRequest {
  tenant: string;
  createdBy: string;
  isAdministrator: boolean;
  groupId: string;
  deploymentGroupId: string;
  workflowId: string;
  defaultParameters: JsonObject;
  /** By deployment id, over the defaults. */
  parameters: Record<string, JsonObject>;
  isForced: boolean;
  concurrency: number;
  visibility: 'private' | 'tenant' | 'global' | null;
  createdAt: string | null;
  /** Ended executions that become its members, in place of new ones. */
  associated?: readonly string[];
  /** The execution whose stage starts the group. */
  parentId?: string;
}

/** The start of one member: like a single start that may wait. What a stage gives its members goes beyond what they declare. */
export function memberRequest(group: GroupRequest, facts: Pick<DeploymentFacts, 'id'>): StartRequest {
  return startRequest({
    tenant: group.tenant,
    createdBy: group.createdBy,
    isAdministrator: group.isAdministrator,
    requestId: memberRequestId(group.groupId, facts.id),
    workflowId: group.workflowId,
    deploymentId: facts.id,
    parameters: { ...group.defaultParameters, ...group.parameters[facts.id] },
    allowCustomParameters: group.parentId !== undefined,
    isForced: group.isForced,
    mayQueue: true,
    isOfClient: true,
    ...(group.parentId === undefined ? {} : { parentId: group.parentId }),
  });
}

/** One execution of a group a deployment. */
export function memberRequestId(groupId: string, deploymentId: string): string {
  return `group:${groupId}:${deploymentId}`;
}
