import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Identity } from './identity';

/** Makes an identity with this common name whose certificate an authority of its own has signed: itself. */
export function foreignIdentity(name: string, authorities: string): Identity {
  const folder = mkdtempSync(join(tmpdir(), 'baton-foreign-'));
  try {
    const [key, certificate] = ['key', 'certificate'].map((file) => join(folder, file)) as [string, string];
    const args = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '30',
    ];
    execFileSync('openssl', [...args, '-subj', `/CN=${name}`, '-keyout', key, '-out', certificate], {
      stdio: 'ignore',
    });
    return { key: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8'), authorities };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
