// Copies parts of dist/ for other people: what packages, archive and images hold is the same.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../run-steps.mjs';

/** The agent before it is packed: only tests run it here. */
const PLAIN_AGENT = /[\\/]agent[\\/][\w-]+[\\/]baton-agent$/;

/** Copies `paths` of dist/ below `folder`. Source maps stay at home: they are as large as the code. @throws Error without dist/ */
export function copyDist(folder, paths) {
  for (const path of paths)
    cpSync(join(root, 'dist', path), join(folder, path), {
      recursive: true,
      filter: (source) =>
        !source.endsWith('.map') && !source.includes('__pycache__') && !PLAIN_AGENT.test(source),
    });
}
