import { defineMachine } from '@baton/kernel';

export type UploadState =
  | 'pending'
  | 'uploading'
  | 'extracting'
  | 'parsing'
  | 'uploaded'
  | 'failed_uploading'
  | 'failed_extracting'
  | 'failed_parsing'
  | 'failed_extracting_to_file_server'
  | 'invalid';
export type UploadEvent =
  | 'fetching'
  | 'stored'
  | 'unpacked'
  | 'parsed'
  | 'notFetched'
  | 'archiveRefused'
  | 'notStored'
  | 'notParsed'
  | 'invalidBlueprint';

/**
 * States of an upload (reference/rest-api.md 6.5): an upload by URL begins with `pending`, one with a body with `uploading`. A
 * synchronous upload takes the same steps, but only its end state is stored.
 */
export const uploadMachine = defineMachine<UploadState, UploadEvent>({
  name: 'blueprint-upload',
  initial: 'pending',
  terminal: [
    'uploaded',
    'failed_uploading',
    'failed_extracting',
    'failed_parsing',
    'failed_extracting_to_file_server',
    'invalid',
  ],
  on: {
    pending: { fetching: 'uploading', notFetched: 'failed_uploading' },
    uploading: { stored: 'extracting', notFetched: 'failed_uploading' },
    extracting: {
      unpacked: 'parsing',
      archiveRefused: 'failed_extracting',
      notStored: 'failed_extracting_to_file_server',
    },
    parsing: { parsed: 'uploaded', invalidBlueprint: 'invalid', notParsed: 'failed_parsing' },
    uploaded: {},
    failed_uploading: {},
    failed_extracting: {},
    failed_parsing: {},
    failed_extracting_to_file_server: {},
    invalid: {},
  },
});

export function hasFailed(state: UploadState): boolean {
  return uploadMachine.isTerminal(state) && state !== 'uploaded';
}

/** Returns the failed state for a failure in the current state of the upload. */
export function failingState(state: UploadState, event: UploadEvent): UploadState {
  return (
    uploadMachine.next(state, event) ??
    Object.values(uploadMachine.on[state]).find(
      (s) => s !== undefined && uploadMachine.isTerminal(s) && s !== 'uploaded',
    ) ??
    'failed_parsing'
  );
}
