import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';

/** Folders of the system that programs need. What is a link here becomes the same link inside. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/etc', '/opt', '/nix/store'];
/** Ours and others' keys; a folder of these is empty inside. */
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

/** Name resolution where /etc/resolv.conf leads out of /etc (systemd). */
function resolverMount(): string[] {
  try {
    const real = realpathSync('/etc/resolv.conf');
    return real.startsWith('/etc/') ? [] : ['--ro-bind', dirname(real), dirname(real)];
  } catch {
    return [];
  }
}
