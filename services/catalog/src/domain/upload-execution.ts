import type { LabelPair } from '@baton/contracts';

/** What an upload's execution shows as its parameters; the original's names. */
export function uploadParameters(upload: {
  id: string;
  mainFile: string;
  url: string | null;
  labels: readonly LabelPair[] | null;
}): Record<string, unknown> {
  return {
    blueprint_id: upload.id,
    app_file_name: upload.mainFile,
    url: upload.url,
    file_server_root: '',
    validate_only: false,
    labels: upload.labels ?? [],
    marketplace_api_url: 'https://marketplace.cloudify.co',
  };
}
