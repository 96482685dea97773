import type { JsonObject } from '@baton/kernel';
import type { DeploymentFacts } from '../../adapters/deployments.client';
import { type StartRequest, startRequest } from '../../executions/domain/start-request';

/** A request of POST /execution-groups (reference/rest-api.md 5.8). */
export interface GroupRequest {
  tenant: string;
  createdBy: string;
  isAdministrator: boolean;
  groupId: string;
  deploymentGroupId: string;
  workflowId: string;
  defaultParameters: JsonObject;
  /** By deployment id; they override the defaults. */
  parameters: Record<string, JsonObject>;
  isForced: boolean;
  concurrency: number;
  visibility: 'private' | 'tenant' | 'global' | null;
  createdAt: string | null;
  /** Ended executions that become the group's members, in place of new ones. */
  associated?: readonly string[];
  /** The execution whose stage starts the group. */
  parentId?: string;
}

/**
 * Returns the start request of one member, like that of a single start that may wait. Parameters from a stage may go beyond those
 * that the workflow declares.
 */
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

/** Returns the request id of a member: a group has one execution for each deployment. */
export function memberRequestId(groupId: string, deploymentId: string): string {
  return `group:${groupId}:${deploymentId}`;
}
