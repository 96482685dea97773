/** Handlers of PUT /blueprints/{id} and /validate. */
import { ownershipOf } from '@baton/contracts';
import type { HttpAnswer, HttpCall } from '@baton/http';
import { answer } from '@baton/http';
import { badParameter } from '@baton/kernel';
import {
  acceptUpload,
  type UploadDeps,
  uploadNow,
  validateAsExecution,
  validateNow,
} from '../commands/upload-blueprint';
import {
  checkSources,
  type RawUploadArguments,
  readUploadRequest,
  type UploadRequest,
} from '../domain/upload-request';
import { getBlueprint } from '../queries/read-blueprints';
import { asAccepted, presentBlueprint, presentValidation } from './present-blueprint';
import { type ArchiveBody, readUploadBody } from './upload-body';

interface Received {
  request: UploadRequest;
  archive: ArchiveBody;
  dispose(): Promise<void>;
}

const given = (params: RawUploadArguments): RawUploadArguments =>
  Object.fromEntries(Object.entries(params).filter(([, v]) => v !== undefined));

async function receive(deps: UploadDeps, call: HttpCall): Promise<Received> {
  const query = call.query as RawUploadArguments;
  // The original of this wire takes labels in the part `params` only (reference/rest-api.md 4.2).
  if (call.wire === 'cloudify' && query.labels !== undefined) {
    throw badParameter('labels', 'labels are not taken from the query', {
      expected: 'labels in the part params',
    });
  }
  const body = await readUploadBody(call, deps.limits.maxArchiveBytes, Boolean(query.blueprint_archive_url));
  try {
    const args = { ...query, ...given(body.params) };
    const owner = await ownershipOf(call.principal, args, deps.findUser);
    const request = readUploadRequest(call.principal, call.params.blueprint_id!, args, owner);
    // The original of this wire keeps also an upload of nothing, as one that has failed.
    if (call.wire !== 'cloudify' || request.url !== null) checkSources(body.archive !== null, request.url);
    return { request, archive: body.archive, dispose: body.dispose };
  } catch (error) {
    await body.dispose();
    throw error;
  }
}

/** Answers the blueprint, a very large plan only where `_include` names it; accepted ones as they began. The original's wire only knows accepted ones. */
export async function uploadBlueprint(deps: UploadDeps, call: HttpCall): Promise<HttpAnswer> {
  const { request, archive, dispose } = await receive(deps, call);
  try {
    if (request.isAsync || call.wire === 'cloudify') {
      await acceptUpload(deps, call.principal, request, archive);
      const row = await getBlueprint(deps.db.query, call.principal, request.id, call.include, true);
      return presentBlueprint(
        asAccepted(
          { ...row, main_file_name: request.mainFileName },
          request.url === null ? 'uploading' : 'pending',
        ),
        call.version,
        call.wire,
      );
    }
    await uploadNow(deps, call.principal, request, archive, call.signal);
  } finally {
    await dispose();
  }
  return presentBlueprint(
    await getBlueprint(deps.db.query, call.principal, request.id, call.include, true),
    call.version,
    call.wire,
  );
}

/**
 * 204 when the archive is valid, else 400 with every diagnostic. On the original's wire always 201 with a blueprint that is
 * never stored: its clients look at the outcome of the execution that it names.
 */
export async function validateBlueprint(deps: UploadDeps, call: HttpCall): Promise<HttpAnswer> {
  const { request, archive, dispose } = await receive(deps, call);
  try {
    checkSources(archive !== null, request.url);
    if (call.wire === 'cloudify') {
      const execution = await validateAsExecution(deps, call.principal, request, archive, call.signal);
      const body = presentValidation({ ...request, ...execution }, call.principal);
      return answer({ status: 201, body });
    }
    await validateNow(deps, call.principal, request, archive, call.signal);
  } finally {
    await dispose();
  }
  return answer({ status: 204 });
}
