import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';

/** Folders of the system that programs need. A symbolic link here becomes the same link inside. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/etc', '/opt', '/nix/store'];
/** Folders with keys of Baton and of other software; they are empty inside. */
const HIDDEN = ['/etc/baton', '/etc/kubernetes'];

/** Arguments of bwrap that show the system, read-only. */
export function systemMounts(): string[] {
  const shown = SYSTEM.flatMap((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found) return [];
    return found.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
  });
  const hidden = HIDDEN.filter((path) => existsSync(path)).flatMap((path) => ['--tmpfs', path]);
  return [...shown, ...resolverMount(), ...hidden];
}

/** Mount of the folder that /etc/resolv.conf links to, where it lies outside /etc (systemd). */
function resolverMount(): string[] {
  try {
    const real = realpathSync('/etc/resolv.conf');
    return real.startsWith('/etc/') ? [] : ['--ro-bind', dirname(real), dirname(real)];
  } catch {
    return [];
  }
}
