import type { Blob } from '../model/record';
import type { RecordType } from '../model/types';
import type { Archive } from '../open-archive';
import type { Value } from '../value';

/** Finds the files of blueprints, plugins and deployments in a legacy archive. */
export class LegacyBlobs {
  /** Archives as they were uploaded, by tenant/id. */
  readonly #uploaded = new Map<string, string>();
  /** Folders that hold a file, without the slash at the end. */
  readonly #folders = new Set<string>();

  constructor(archive: Archive) {
    for (const [name, { isFolder }] of archive.entries) {
      if (isFolder) continue;
      const uploaded = /^uploaded-blueprints\/([^/]+\/[^/]+)\/[^/]+$/.exec(name)?.[1];
      if (uploaded !== undefined) this.#uploaded.set(uploaded, name);
      const folder = /^(plugins\/[^/]+|deployments\/[^/]+\/[^/]+)\//.exec(name)?.[1];
      if (folder !== undefined) this.#folders.add(folder);
    }
  }

  blobOf(type: RecordType, tenant: string | null, id: Value | undefined): Blob | null {
    if (typeof id !== 'string') return null;
    if (type === 'blueprints') {
      const name = this.#uploaded.get(`${tenant}/${id}`);
      return name === undefined ? null : { kind: 'file', name };
    }
    if (type === 'plugins') return this.#folder(`plugins/${id}`);
    if (type === 'deployments') return this.#folder(`deployments/${tenant}/${id}`);
    return null;
  }

  #folder(name: string): Blob | null {
    return this.#folders.has(name) ? { kind: 'folder', name: `${name}/` } : null;
  }
}
