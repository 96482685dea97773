import { createHash } from 'node:crypto';
import type { catalogRpc } from '@baton/contracts';
import { newId, notFound } from '@baton/kernel';
import type { RpcHandlers } from '@baton/rpc';

interface PeerFile {
  data: Buffer;
  mode: number;
  modifiedUs: number;
}

/** The file server as used by workers: folders in memory, with versions, digests and pieces. */
export interface FolderPeer {
  /** `<area>/<tenant>/<folder>` -> path -> file. */
  folders: Map<string, Map<string, PeerFile>>;
  /** Paths that were read, in their order. */
  reads: string[];
  /** Stores a file as a client would. */
  put(folder: string, path: string, text: string, modifiedUs?: number): void;
  remove(folder: string, path: string): void;
  texts(folder: string): Record<string, string>;
  limits: { maxFiles: number; maxBytes: number; maxFileBytes: number };
  handlers: Pick<
    RpcHandlers<typeof catalogRpc.CatalogServiceDefinition>,
    'getFolder' | 'readStoredFile' | 'storePiece' | 'changeFolder'
  >;
}

const digestOf = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
const keyOf = (folder: catalogRpc.Folder | undefined): string =>
  `${folder?.area}/${folder?.tenant}/${folder?.folder}`;

export function createFolderPeer(before: (method: string) => void | Promise<void>): FolderPeer {
  const versions = new Map<string, string>();
  const pieces = new Map<string, Buffer>();
  const folders: FolderPeer['folders'] = new Map();
  const filesOf = (key: string): Map<string, PeerFile> => {
    const files = folders.get(key) ?? new Map<string, PeerFile>();
    folders.set(key, files);
    return files;
  };
  const peer: FolderPeer = {
    folders,
    reads: [],
    limits: { maxFiles: 100, maxBytes: 10_000_000, maxFileBytes: 10_000_000 },
    put: (key, path, text, modifiedUs = 1_000_000) => {
      filesOf(key).set(path, { data: Buffer.from(text), mode: 0o644, modifiedUs });
      versions.set(key, newId());
    },
    remove: (key, path) => {
      filesOf(key).delete(path);
      versions.set(key, newId());
    },
    texts: (key) => Object.fromEntries([...filesOf(key)].map(([path, { data }]) => [path, data.toString()])),
    handlers: {
      getFolder: async ({ folder, knownVersion }) => {
        await before('getFolder');
        const key = keyOf(folder);
        const version = versions.get(key) ?? '';
        const files = [...filesOf(key)].map(([path, { data, mode, modifiedUs }]) => ({
          path,
          mode,
          modifiedUs,
          size: data.length,
          digest: digestOf(data),
        }));
        const isChanged = version !== knownVersion;
        return { version, isChanged, files: isChanged ? files : [], ...peer.limits };
      },
      readStoredFile: async function* ({ folder, path, digest }) {
        await before('readStoredFile');
        peer.reads.push(path);
        const file = filesOf(keyOf(folder)).get(path);
        if (file === undefined || digestOf(file.data) !== digest) throw notFound('File', path);
        yield { data: file.data };
      },
      storePiece: async ({ data }) => {
        await before('storePiece');
        const digest = digestOf(Buffer.from(data));
        pieces.set(digest, Buffer.from(data));
        return { digest };
      },
      changeFolder: async ({ folder, writes, removes }) => {
        await before('changeFolder');
        const files = filesOf(keyOf(folder));
        for (const { path, digest } of removes) {
          const there = files.get(path);
          if (there && digestOf(there.data) === digest) files.delete(path);
        }
        for (const { path, mode, modifiedUs, content, pieces: parts } of writes) {
          const data =
            parts.length > 0 ? Buffer.concat(parts.map((d) => pieces.get(d)!)) : Buffer.from(content);
          files.set(path, { data, mode, modifiedUs });
        }
        const version = newId();
        versions.set(keyOf(folder), version);
        return { version };
      },
    },
  };
  return peer;
}
