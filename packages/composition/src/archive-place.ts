/** Where `blueprint_archive` leads (reference/workflows.md 8.1): a path below the folder of the parent's blueprint on the file server. */

export type ArchivePlace =
  /** A file or folder of the unpacked blueprint `blueprintId`. */
  | { kind: 'unpacked'; blueprintId: string; path: string }
  /** The archive of a blueprint as it was uploaded. */
  | { kind: 'uploaded'; blueprintId: string; fileName: string };

/**
 * Resolves `path` from `blueprints/<tenant>/<blueprintId>/`, as clients of the original's file server do: examples reach an uploaded
 * archive by `../../../uploaded-blueprints/<tenant>/<id>/<id>.tar.gz`. Returns null for every place outside of the blueprints of
 * the tenant: other tenants, other areas, and above the root of the file server.
 */
export function archivePlace(path: string, tenant: string, blueprintId: string): ArchivePlace | null {
  if (/[\\\u0000]/.test(path)) return null;
  const at = ['blueprints', tenant, blueprintId];
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') at.push(segment);
    else if (at.pop() === undefined) return null;
  }
  const [area, ofTenant, id, ...rest] = at;
  if (ofTenant !== tenant || id === undefined || rest.length === 0) return null;
  if (area === 'blueprints') return { kind: 'unpacked', blueprintId: id, path: rest.join('/') };
  if (area !== 'uploaded-blueprints' || rest.length > 1) return null;
  return { kind: 'uploaded', blueprintId: id, fileName: rest[0]! };
}
