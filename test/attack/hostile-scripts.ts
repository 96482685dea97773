/**
 * The scripts of row S17: attacks that hostile operations try. Each script prints TAKEN when its attack succeeded, and DONE at
 * its end.
 */

import type { Planted } from './planted';
import { LIMITS } from './rig';

export interface Try {
  name: string;
  title: string;
  script(planted: Planted, targets: Targets): string;
  /** An attack on the network: open when the worker reports that it cannot restrict network access of operations. */
  isEgress?: boolean;
  /** Exhausts a resource: it runs alone, and is stopped before its end. */
  isAlone?: boolean;
}

/** Targets that a successful attack damages: one set for the operation, one for the control. */
export interface Targets {
  pid: number;
  /** Name of the files that the script writes. */
  written: string;
  /** Port on which the script listens. */
  port: number;
}

const python = (text: string): string => `/usr/bin/python3 - <<'EOF' 2>/dev/null\n${text}\nEOF\n`;

const greet = ({ host, port }: { host: string; port: number }, mark: string): string =>
  python(`import socket
with socket.create_connection(('${host}', ${port}), 3) as it:
    it.settimeout(3)
    if '${mark}' in it.recv(100).decode(): print('got')`);

const ifPrinted = (script: string): string => `case "$(${script.trimEnd()}\n)" in *got*) say TAKEN;; esac`;

export const tries: readonly Try[] = [
  {
    name: 'environments',
    title: 'dumps environments',
    script: ({ mark }) =>
      `cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -aq '^BATON_INTERNAL_KEY=${mark}' && say TAKEN`,
  },
  {
    name: 'proc',
    title: 'looks at strangers in /proc',
    script: (_planted, { pid }) => `test -r /proc/${pid}/status && say TAKEN`,
  },
  {
    name: 'kill',
    title: 'kills strangers',
    script: (_planted, { pid }) => `kill -9 ${pid} 2>/dev/null && say TAKEN`,
  },
  {
    name: 'ptrace',
    title: 'attaches to a stranger with ptrace',
    script: (_planted, { pid }) =>
      ifPrinted(
        python(`import ctypes
if ctypes.CDLL(None).ptrace(16, ${pid}, 0, 0) == 0: print('got')`),
      ),
  },
  {
    name: 'files',
    title: "reads the manager's files and those of another deployment",
    script: ({ files, mark }) =>
      files.map((file) => `grep -qs ${mark} ${file} && say TAKEN ${file}`).join('\n'),
  },
  {
    name: 'writes',
    title: 'writes to / and to folders of the system and of the manager',
    script: ({ places }, { written }) =>
      `${places.map((place) => `{ echo x > ${place}/${written}; } 2>/dev/null`).join('\n')}\n`,
  },
  {
    name: 'listens',
    title: 'listens where operations of another tenant reach it',
    isEgress: true,
    script: (_planted, { port }) =>
      ifPrinted(
        python(`import socket
it = socket.create_server(('0.0.0.0', ${port}))
it.settimeout(6)
it.accept()
print('got')`),
      ),
  },
  {
    name: 'loopback',
    title: 'calls a loopback service beside the manager',
    isEgress: true,
    script: ({ service, mark }) => ifPrinted(greet(service, mark)),
  },
  {
    name: 'metadata',
    title: "calls a cloud's metadata address",
    isEgress: true,
    script: ({ metadata, mark }) => (metadata ? ifPrinted(greet(metadata, mark)) : ''),
  },
  {
    name: 'forks',
    title: 'forks without end',
    isAlone: true,
    script: () =>
      `{ i=0; while [ $i -lt ${2 * LIMITS.processes} ]; do sleep 3 >/dev/null 2>&1 & i=$((i+1)); done; echo all; } 2>/dev/null | grep -q all && say TAKEN`,
  },
  {
    name: 'disk',
    title: 'fills the disk',
    isAlone: true,
    script: () =>
      `i=0; while [ $i -lt 10 ]; do head -c ${LIMITS.diskBytes / 2} /dev/zero > big-$i || exit 1; i=$((i+1)); done; sleep 5; say TAKEN; rm -f big-*`,
  },
];
